// Read: unused credit by grant. The one place of the rule: the oldest credit is used first, a debt is paid before anything.
import { statement } from '../db/statement.ts';
import type { EntryType } from '../outcomes.ts';

const columns = { wallet_id: 'text', customer_id: 'text', after_wallet: 'text', count: 'int' } as const;

export interface RemainderRow {
  wallet: string;
  customer: string;
  unit: string;
  /** The entry that gave the credit. */
  seq: number;
  /** `grant`, `restore`, or an `adjust` upwards. */
  type: EntryType;
  key: string | null;
  reason: string | null;
  amount: number;
  /** What is left of the amount: 1 to the amount. */
  remaining: number;
  createdAt: string;
}

interface Page {
  remainders: RemainderRow[];
  /** Behind the last wallet of a full page. */
  cursor: string | null;
}

/**
 * Credit comes from outside by grants, restores and adjusts upwards; everything else (what jobs take and get back, adjusts
 * downwards, clawbacks) uses it. Where the oldest is used first, what is left is the newest, so the remainder of an entry is
 * what of the balance the entries after it do not cover: no allocation has to be kept, and a refund needs no grant to go
 * back to. A debt is paid first by the same formula, and nothing is left in a wallet that is in debt.
 */
export const listRemainders = statement<typeof columns, Page>(
  'wallet.remainders',
  columns,
  () => `
w as materialized (
  (select w.* from input i join recoup.wallets w on w.id = i.wallet_id and w.customer_id = coalesce(i.customer_id, w.customer_id)
   where i.after_wallet is null or w.id > i.after_wallet)
  union all
  (select w.* from input i join recoup.wallets w on w.customer_id = i.customer_id and w.id > coalesce(i.after_wallet, '')
   where i.wallet_id is null order by w.id limit (select count from input))
  union all
  (select w.* from input i join recoup.wallets w on w.id > coalesce(i.after_wallet, '')
   where i.wallet_id is null and i.customer_id is null order by w.id limit (select count from input))),
given as (
  select w.id, w.customer_id, w.unit, e.seq, e.type, e.key, e.reason, e.amount, e.created_at,
    w.balance - (sum(e.amount) over (partition by w.id order by e.seq desc) - e.amount) as uncovered
  from w join recoup.entries e on e.wallet_id = w.id
  where w.balance > 0 and (e.type in ('grant', 'restore') or (e.type = 'adjust' and e.amount > 0)))
select json_build_array(json_build_object(
  'remainders', coalesce((select json_agg(json_build_object('wallet', id, 'customer', customer_id, 'unit', unit, 'seq', seq, 'type', type,
     'key', key, 'reason', reason, 'amount', amount, 'remaining', least(amount, uncovered), 'createdAt', created_at) order by id, seq)
     from given where uncovered > 0), '[]'),
  'cursor', case when count(*) = (select count from input) then max(id) end))::text as answer
from w`,
);
