// payment.tell: what a provider says of a payment, added to what it said before. What it means for credit: settle.ts.
import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';

/** A payment as it is known, with what of its grant expired. */
export interface PaymentRow extends RawAnswer {
  payment: string;
  wallet: string | null;
  subscription: string | null;
  credits: number | null;
  expires_at: string | null;
  priority: number | null;
  amount: number | null;
  paid: boolean;
  refunded: number;
  disputes: Record<string, [amount: number, state: 'open' | 'won' | 'lost']>;
  granted_in: string | null;
  granted_seq: number | null;
  granted: number;
  taken: number;
  bookings: number;
  expired: number;
}

const columns = {
  payment_id: 'text',
  wallet_id: 'text',
  subscription_id: 'text',
  credits: 'bigint',
  expires_at: 'timestamptz',
  priority: 'smallint',
  amount: 'bigint',
  paid: 'boolean',
  refunded: 'bigint',
  dispute: 'text',
  dispute_amount: 'bigint',
  dispute_state: 'text',
} as const;

/**
 * Guard: what it is for, and how much it is, is as it was said before. News only adds: paid stays paid, the larger refund counts, and a dispute that was
 * decided stays so when its beginning is told late. So the order of the provider's events does not matter. The row is held until the
 * transaction ends: what follows for credit is decided by one at a time.
 */
export const tellPayment = statement<typeof columns, PaymentRow>(
  'payment.tell',
  columns,
  () => `
told as (
  insert into recoup.payments as p (id, wallet_id, subscription_id, credits, expires_at, priority, amount, paid, refunded, disputes, first_at, told_at)
  select payment_id, wallet_id, subscription_id, credits, expires_at, priority, amount, coalesce(paid, false), coalesce(refunded, 0),
    case when dispute is null then '{}' else jsonb_build_object(dispute, jsonb_build_array(dispute_amount, dispute_state)) end,
    recoup.clock(), recoup.clock()
  from input
  on conflict (id) do update set
    wallet_id = coalesce(p.wallet_id, excluded.wallet_id), subscription_id = coalesce(p.subscription_id, excluded.subscription_id),
    credits = coalesce(p.credits, excluded.credits), amount = coalesce(p.amount, excluded.amount),
    expires_at = case when p.wallet_id is null then excluded.expires_at else p.expires_at end,
    priority = case when p.wallet_id is null then excluded.priority else p.priority end,
    paid = (p.paid or excluded.paid), refunded = greatest(p.refunded, excluded.refunded), told_at = excluded.told_at,
    disputes = (
      select coalesce(jsonb_object_agg(key, value), '{}') from (
        select key, value from jsonb_each(p.disputes)
        where not excluded.disputes ? key or (value ->> 1 <> 'open' and excluded.disputes -> key ->> 1 = 'open')
        union all
        select key, value from jsonb_each(excluded.disputes)
        where not p.disputes ? key or not (p.disputes -> key ->> 1 <> 'open' and value ->> 1 = 'open')) d)
  where (excluded.wallet_id is null or p.wallet_id is null or (excluded.wallet_id, excluded.credits) = (p.wallet_id, p.credits))
    and (excluded.wallet_id is null or p.subscription_id is null) and (excluded.subscription_id is null or p.wallet_id is null)
    and (excluded.subscription_id is null or p.subscription_id is null or excluded.subscription_id = p.subscription_id)
    and (excluded.amount is null or p.amount is null or excluded.amount = p.amount)
  returning p.*)${answerEach(
    'input i left join told t on t.id = i.payment_id',
    `case when t.id is null then 'conflict' else 'told' end`,
    {
      payment: 't.id',
      wallet: 't.wallet_id',
      subscription: 't.subscription_id',
      credits: 't.credits',
      expires_at: 't.expires_at',
      priority: 't.priority',
      amount: 't.amount',
      paid: 't.paid',
      refunded: 't.refunded',
      disputes: 't.disputes',
      granted_in: 't.granted_in',
      granted_seq: 't.granted_seq',
      granted: 't.granted',
      taken: 't.taken',
      bookings: 't.bookings',
      expired: `coalesce((select -sum(e.amount) from recoup.grant_entries g join recoup.entries e on e.wallet_id = g.wallet_id and e.seq = g.seq
        where g.wallet_id = t.granted_in and g.of_seq = t.granted_seq and e.type = 'expire'), 0)`,
    },
  )}`,
  { holds: 'payment_id' },
);
