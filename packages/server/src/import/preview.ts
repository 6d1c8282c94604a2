// The dry run of an import: what the run would do, with the same figures, and nothing changed.
import { errors, Refusal } from 'recoup';
import type { Ask } from '../cli/tools.ts';
import {
  BATCH,
  bookedAlready,
  bookedUnder,
  checkAllowed,
  type Imported,
  nothing,
  otherWallet,
  refuse,
  warnOf,
} from './balances.ts';
import type { Row } from './rows.ts';
import type { Spool } from './spool.ts';

interface There {
  customer: string;
  unit: string;
  booked: number;
  lastSeq: number;
  code?: undefined;
}

/** Wallets whose entries are looked at side by side. */
const ABREAST = 8;

/** What `importBalances` would answer now. Refuses like it what the key may not do. */
export async function previewImport(
  ask: Ask,
  spool: Spool,
  key: string,
  onProgress: (done: number) => void,
): Promise<Imported> {
  await checkAllowed(ask, spool);
  const result = nothing(spool);
  let done = 0;
  for await (const batch of spool.batches(BATCH)) {
    const { items } = await ask<{ items: (Refusal | { code: string } | There)[] }>('wallets.balances', {
      wallets: batch.map(({ wallet }) => wallet),
    });
    for (let at = 0; at < batch.length; at += ABREAST) {
      const rows = batch.slice(at, at + ABREAST);
      const there = items
        .slice(at, at + ABREAST)
        .map((item) => (item instanceof Refusal || item.code !== undefined ? null : (item as There)));
      const booked = await Promise.all(
        rows.map(({ wallet }, index) => (there[index]?.lastSeq ? bookedUnder(ask, wallet, key) : null)),
      );
      for (const [index, row] of rows.entries()) judge(result, row, key, there[index]!, booked[index]!);
      onProgress(done + at + rows.length);
    }
    done += batch.length;
  }
  return result;
}

function judge(
  result: Imported,
  row: Row,
  key: string,
  there: There | null,
  booked: { type: string; amount: number } | null,
): void {
  const { balance } = row;
  const other = there && otherWallet(row, there);
  if (other) {
    refuse(result, row, 'conflict', other);
    return;
  }
  if (there === null) result.opened += 1;
  const type = balance > 0 ? 'grant' : 'adjust';
  if (booked) {
    if (booked.type === type && booked.amount === balance) result.duplicates += 1;
    else refuse(result, row, 'conflict', bookedAlready(key, booked.amount));
  } else if (balance === 0) result.empty += 1;
  else if (Math.abs((there?.booked ?? 0) + balance) > Number.MAX_SAFE_INTEGER) {
    refuse(result, row, 'balance_limit', errors.balance_limit.sentence);
  } else {
    result[balance > 0 ? 'granted' : 'adjusted'] += 1;
    warnOf(result, row, there?.booked ?? 0);
  }
}
