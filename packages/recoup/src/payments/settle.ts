// payment.settle: credit that a payment granted is taken back, or given back, until it is what the payment is worth now.
import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { bookEntries, holdWallets, walletMoved, withoutWallet } from '../wallets/booking.ts';

export interface SettledRow extends RawAnswer {
  seq: number | null;
  balance: number | null;
}

const columns = { payment_id: 'text', wallet_id: 'text', key: 'text', amount: 'bigint', of_seq: 'bigint' } as const;

/**
 * Guard: no entry with this key, which only this booking of the payment has; the payment is held (see tell.ts). Below zero a `clawback`, which may go into
 * debt; above zero a `restore` of what a clawback took.
 */
export const settlePayment = statement<typeof columns, SettledRow>(
  'payment.settle',
  columns,
  (lock) => `${holdWallets(lock)},
seen as materialized (
  select s.*, case
      when not has_wallet then ${withoutWallet('no_wallet')}
      when exists (select from recoup.entries e where e.wallet_id = s.wallet_id and e.key = s.key) then 'duplicate'
      when ${walletMoved} or row_number() over (partition by s.wallet_id order by s.ord) > 1 then 'again'
      else 'booked' end as outcome
  from held s),
done as (
  select s.*, outcome = 'booked' as booked, case when amount < 0 then 'clawback' else 'restore' end as type1, amount as amount1, 'payment' as reason1,
    null::text as type2, null::bigint as amount2, null::text as reason2, null::text as job_id, null::text as actor
  from seen s),
${bookEntries},
named as (
  insert into recoup.grant_entries (wallet_id, seq, of_seq) select wallet_id, seq, of_seq from book where booked),
kept as (
  update recoup.payments p set taken = p.taken - b.amount, bookings = p.bookings + 1 from book b where b.booked and p.id = b.payment_id)${answerEach(
    'book',
    'outcome',
    { seq: 'case when booked then seq end', balance: 'balance_after' },
  )}`,
);

export interface GrantedRow extends RawAnswer {
  seq: number;
  credits: number;
}

const granted = { payment_id: 'text', wallet_id: 'text', key: 'text', seq: 'bigint', amount: 'bigint' } as const;

/** Says what a payment granted: the entry, or, of a period, the entry under its key. */
export const markGranted = statement<typeof granted, GrantedRow>(
  'payment.granted',
  granted,
  () => `
found as (
  select i.*, coalesce(i.seq, e.seq) as of_seq, coalesce(i.amount, e.amount) as credits
  from input i left join recoup.entries e on e.wallet_id = i.wallet_id and e.key = i.key),
won as (
  update recoup.payments p set granted_in = f.wallet_id, granted_seq = f.of_seq, granted = f.credits
  from found f where p.id = f.payment_id and p.granted = 0 returning p.id)${answerEach('found', `'granted'`, { seq: 'of_seq', credits: 'credits' })}`,
  { holds: 'payment_id' },
);
