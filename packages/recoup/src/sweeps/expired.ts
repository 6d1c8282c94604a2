// Sweep: credit whose time is past. No submit waits for it: one that comes first expires what is due itself.
import type { Runner } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { expireDue } from '../wallets/expire.ts';
import { PAGE, pagesOf } from './pages.ts';

const columns = { after_at: 'timestamptz', after_id: 'text', count: 'int' } as const;

interface DueWallet {
  wallet: string;
  at: string;
}

/** Wallets whose credit is to be looked at, the longest due first. */
export const dueWallets = statement<typeof columns, DueWallet>(
  'wallet.due',
  columns,
  () => `
due as (
  select w.id, w.next_expiry_at from input i
  cross join lateral (
    select id, next_expiry_at from recoup.wallets
    where next_expiry_at is not null and next_expiry_at <= recoup.clock()
      and (next_expiry_at, id) > (coalesce(i.after_at, '-infinity'), coalesce(i.after_id, ''))
    order by next_expiry_at, id limit i.count) w)
select coalesce(json_agg(json_build_object('wallet', id, 'at', next_expiry_at) order by next_expiry_at, id), '[]')::text as answer from due`,
);

/** One pass: how many entries were booked, and how many wallets could not be handled. */
export async function sweepExpired(
  runner: Runner,
  signal: AbortSignal,
  onError: (error: Error) => void,
): Promise<{ expired: number; failed: number }> {
  const total = { expired: 0, failed: 0 };
  const read = (after?: DueWallet) =>
    runner.read(dueWallets, [{ after_at: after?.at, after_id: after?.wallet, count: PAGE }]);
  for await (const rows of pagesOf(read, signal)) {
    const wallets = rows.map(({ wallet }) => wallet);
    total.expired += await expireDue(runner, wallets, (wallet, refusal) => {
      total.failed += 1;
      const message = `The sweep cannot expire credit of wallet ${JSON.stringify(wallet)}: ${refusal.message}`;
      onError(new Error(message, { cause: refusal }));
    });
  }
  return total;
}
