// wallet.open and wallet.change: a wallet comes to be, and its limit or status changes. No money moves.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';

export interface OpenAnswer extends RawAnswer {
  customer_id: string;
  unit: string;
  overdraft_limit: number;
}

const openColumns = { wallet_id: 'text', customer_id: 'text', unit: 'text', overdraft_limit: 'bigint' } as const;

/**
 * Guard: no wallet of that id. Whoever comes second runs again and reads what the first one opened. An insert of a key
 * that another transaction has inserted waits for it, and no SKIP LOCKED helps; so openings of one id take turns at an
 * advisory lock of the transaction, which a shared batch only tries: one slow caller stalls only itself.
 */
export const openWallet = statement<typeof openColumns, OpenAnswer>(
  'wallet.open',
  openColumns,
  (lock) => `
seen as materialized (
  select i.*, w.id as old_id, w.customer_id as old_customer_id, w.unit as old_unit, w.overdraft_limit as old_overdraft_limit,
         row_number() over (partition by i.wallet_id order by i.ord) as twin,
         case when w.id is null then ${
           lock === ''
             ? `pg_advisory_xact_lock(hashtextextended('recoup.open:' || i.wallet_id, 0))::text is not null`
             : `pg_try_advisory_xact_lock(hashtextextended('recoup.open:' || i.wallet_id, 0))`
         } end as may
  from (select * from input order by wallet_id, ord) i
  left join lateral (select * from recoup.wallets where id = i.wallet_id limit 1) w on true),
won as (
  insert into recoup.wallets (id, customer_id, unit, overdraft_limit, opened_at)
  select wallet_id, customer_id, unit, overdraft_limit, recoup.clock() from seen where old_id is null and twin = 1 and may
  on conflict (id) do nothing
  returning id),
done as (select s.*, w.id as new_id from seen s full join won w on w.id = s.wallet_id)${answerEach(
    'done',
    `case when old_id is null then case when not may then 'busy' when new_id is not null and twin = 1 then 'opened' else 'again' end
         when (old_customer_id, old_unit, old_overdraft_limit) = (customer_id, unit, overdraft_limit) then 'duplicate'
         else 'conflict' end`,
    {
      customer_id: 'coalesce(old_customer_id, customer_id)',
      unit: 'coalesce(old_unit, unit)',
      overdraft_limit: 'coalesce(old_overdraft_limit, overdraft_limit)',
    },
  )}`,
);

const changeColumns = { wallet_id: 'text', overdraft_limit: 'bigint', status: 'text' } as const;

/** Guard: the wallet exists. Waits for the wallet like a money statement; null leaves a field as it is. */
export const changeWallet = statement<typeof changeColumns, RawAnswer>(
  'wallet.change',
  changeColumns,
  (lock) => `
held as materialized (
  select i.*, w.id, w.customer_id, w.overdraft_limit as old_overdraft_limit, w.status as old_status,
         row_number() over (partition by i.wallet_id order by i.ord) as twin
  from (select * from input order by wallet_id, ord) i
  left join lateral (select * from recoup.wallets where id = i.wallet_id for no key update ${lock}) w on true),
won as (
  insert into recoup.wallets (id, customer_id, overdraft_limit, status)
  select id, customer_id, coalesce(overdraft_limit, old_overdraft_limit), coalesce(status, old_status)
  from held where id is not null and twin = 1
  on conflict (id) do update set overdraft_limit = excluded.overdraft_limit, status = excluded.status)${answerEach(
    'held s',
    `case when id is not null then case when twin = 1 then 'changed' else 'again' end
         when (select true from recoup.wallets w where w.id = s.wallet_id) then 'busy' else 'no_wallet' end`,
    {},
  )}`,
);
