// job.settle: what an ended job turned out to be worth, once.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { beyond, bookEntries, holdWallets, limitReached } from '../wallets/booking.ts';
import { holdJobs, takeTurns, withoutJob } from './held.ts';

export interface SettleRow extends RawAnswer {
  final_price: number | null;
  amount: number | null;
  balance: number | null;
}

const columns = { wallet_id: 'text', id: 'text', new_final_price: 'bigint' } as const;

/** Guard: succeeded or canceled, not settled. What the job has taken so far (its price, or nothing) becomes its final price. */
export const settleJob = statement<typeof columns, SettleRow>(
  'job.settle',
  columns,
  (lock) => `${holdWallets(lock)},
${holdJobs(lock, 'held')},
judged as materialized (
  select s.*, t.*, ${beyond('taken - new_final_price')} as over,
    coalesce((succeeded_at is not null or canceled_at is not null) and settled_at is null, false) and has_wallet as may
  from work s
  cross join lateral (select case when succeeded_at is not null then price else 0 end as taken) t),
${takeTurns},
seen as materialized (
  select s.*, may and earlier = 0 and not over as wins,
    case ${withoutJob}
      when succeeded_at is null and canceled_at is null then 'not_ended'
      when settled_at is not null then case when final_price = new_final_price then 'duplicate' else 'conflict' end
      when earlier > 0 then 'again'
      when not has_wallet then 'busy'
      when over then ${limitReached}
      else 'settled'
    end as outcome
  from turn s),
won as (
  insert into recoup.jobs as j (wallet_id, id, queue, state, price, attempt, failures, refunded_at, succeeded_at, succeeded_attempt,
    reclaimed_at, canceled_at, settled_at, final_price)
  select wallet_id, id, queue, state, price, attempt, failures, refunded_at, succeeded_at, succeeded_attempt, reclaimed_at,
    canceled_at, at, new_final_price
  from seen where wins
  on conflict (wallet_id, id) do update set settled_at = excluded.settled_at, final_price = excluded.final_price
  where j.settled_at is null and (j.succeeded_at is not null or j.canceled_at is not null)
  returning j.wallet_id, j.id),
done as materialized (
  select s.*, coalesce(s.wins and w.id is not null, false) as booked, s.id as job_id, null::text as key, null::text as actor,
    'settle' as type1, taken - new_final_price as amount1, 'final price' as reason1,
    null::text as type2, null::bigint as amount2, null::text as reason2
  from seen s full join won w on w.wallet_id = s.wallet_id and w.id = s.id),
${bookEntries}
select coalesce(json_agg(json_build_object('ord', ord, 'outcome', case when wins and not booked then 'again' else outcome end,
  'final_price', case when booked then new_final_price else final_price end,
  'amount', case when settled_at is not null then taken - final_price else amount1 end, 'balance', balance_after)), '[]')::text as answer
from book`,
);
