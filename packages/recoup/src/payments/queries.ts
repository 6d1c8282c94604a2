// Reads of payments: the newest, those that are open, those of a list.
import { statement } from '../db/statement.ts';

export interface PaymentState {
  payment: string;
  /** The id by which it was asked for: its own, or another of it. */
  asked: string;
  wallet: string | null;
  subscription: string | null;
  amount: number | null;
  paid: boolean;
  refunded: number;
  /** By id: amount and state. */
  disputes: Record<string, [amount: number, state: 'open' | 'won' | 'lost']>;
  /** Credits; 0: none. */
  granted: number;
  /** How much of them is taken back at present. */
  taken: number;
  firstAt: string;
  toldAt: string;
}

const columns = { ids: 'jsonb', open: 'boolean', before: 'timestamptz', count: 'int' } as const;

export const listPayments = statement<typeof columns, PaymentState>(
  'payment.list',
  columns,
  () => `
found as (
  (select p.*, w.asked from input i cross join lateral jsonb_array_elements_text(i.ids) w(asked)
   left join recoup.payment_ids o on o.id = w.asked join recoup.payments p on p.id = coalesce(o.payment_id, w.asked))
  union all
  (select p.*, p.id from input i cross join lateral (
     select * from recoup.payments p where p.paid and p.granted = 0 and p.first_at < coalesce(i.before, 'infinity')
     order by first_at desc, id desc limit i.count) p where i.open and i.ids is null)
  union all
  (select p.*, p.id from input i cross join lateral (
     select * from recoup.payments p where p.first_at < coalesce(i.before, 'infinity') order by first_at desc, id desc limit i.count) p
   where not coalesce(i.open, false) and i.ids is null))
select coalesce(json_agg(json_build_object('payment', id, 'asked', asked, 'wallet', coalesce(wallet_id, granted_in), 'subscription', subscription_id, 'amount', amount,
  'paid', paid, 'refunded', refunded, 'disputes', disputes, 'granted', granted, 'taken', taken, 'firstAt', first_at, 'toldAt', told_at)
  order by first_at desc, id desc), '[]')::text as answer
from found`,
);
