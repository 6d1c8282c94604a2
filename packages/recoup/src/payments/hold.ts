// The payment behind an id: held until the transaction ends, under whichever of its ids it is told of.
import { statement } from '../db/statement.ts';
import type { PaymentState } from './queries.ts';

export interface HeldPayment {
  payment: string;
  /** What was told under the other id before both were known to be one; null: nothing. */
  other: (PaymentState & { credits: number | null }) | null;
}

const holding = { ids: 'jsonb' } as const;

/** Holds these ids in one order. A statement of its own, so that the one behind it sees what happened before it had them. */
export const holdPayments = statement<typeof holding, { held: number }>(
  'payment.hold',
  holding,
  () => `
taken as materialized (
  select pg_advisory_xact_lock(key) as held from (
    select distinct hashtextextended(id, 7421) as key from input i cross join lateral jsonb_array_elements_text(i.ids) id order by key) k)
select json_build_array(json_build_object('held', (select count(held) from taken)))::text as answer`,
);

const columns = { payment_id: 'text', also_id: 'text' } as const;

/**
 * Which payment an id stands for. With another id of the same payment, both stand for one from now on: the first, unless the other has granted
 * something already. What was told under the one that makes way comes back in the answer.
 */
export const namePayment = statement<typeof columns, HeldPayment>(
  'payment.name',
  columns,
  () => `
known as materialized (
  select coalesce(a.payment_id, i.payment_id) as first, coalesce(b.payment_id, i.also_id) as second
  from input i left join recoup.payment_ids a on a.id = i.payment_id left join recoup.payment_ids b on b.id = i.also_id),
named as materialized (
  select case when q.granted > 0 then second else first end as payment, case when q.granted > 0 then first else second end as other
  from known left join recoup.payments q on q.id = second and second <> first),
linked as (
  insert into recoup.payment_ids (id, payment_id) select other, payment from named where other <> payment
  on conflict (id) do nothing),
gone as (
  select p.* from named n join recoup.payments p on p.id = n.other where n.other <> n.payment)
select json_build_array(json_build_object('payment', n.payment, 'other', (
  select json_build_object('payment', g.id, 'wallet', g.wallet_id, 'credits', g.credits, 'subscription', g.subscription_id, 'amount', g.amount,
    'paid', g.paid, 'refunded', g.refunded, 'disputes', g.disputes, 'granted', g.granted) from gone g)))::text as answer
from named n`,
);
