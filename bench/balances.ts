// The balance of a wallet with a million entries against one with ten, and verify over all of them.
import { open } from '../packages/recoup/src/index.ts';
import { testDatabase } from '../packages/recoup/src/testing.ts';
import { median } from './figures.ts';
import { fillWallet } from './floors.ts';

export interface BalanceFigures {
  ratio: number;
  verifyMs: number;
  entries: number;
}

export async function balances(
  serverUrl: string,
  entries: number,
  say: (line: string) => void,
): Promise<BalanceFigures> {
  await using db = await testDatabase(serverUrl);
  await using recoup = await open({ connection: db.url, sweep: false });
  await fillWallet(db.url, 'ten', 10);
  await fillWallet(db.url, 'million', entries);
  const times = { ten: [] as number[], million: [] as number[] };
  for (let i = 0; i < 6000; i++) {
    const wallet = i % 2 === 0 ? 'ten' : 'million';
    const started = performance.now();
    await recoup.wallets.balance(wallet);
    // The first ones warm up.
    if (i >= 2000) times[wallet].push(performance.now() - started);
  }
  const [ten, million] = [median(times.ten), median(times.million)];
  const verified = await recoup.verify();
  if (!verified.ok) throw new Error(`verify: ${JSON.stringify(verified.problems[0])}`);
  say(
    `  balance: ${ten.toFixed(3)} ms with 10 entries, ${million.toFixed(3)} ms with ${entries}; verify ${verified.ms} ms`,
  );
  return { ratio: million / ten, verifyMs: verified.ms, entries };
}
