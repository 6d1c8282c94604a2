// job.settle: what an ended job turned out to be worth, once.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { behindLimit, beyond, bookEntries, holdWallets, limitReached } from '../wallets/booking.ts';
import { asJudged, holdJobs, takeTurns, withoutJob } from './held.ts';

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
judged as (
  select s.*, t.*, ${beyond('taken - new_final_price')} as over,
    coalesce((succeeded_at is not null or canceled_at is not null) and settled_at is null, false) and has_wallet as may
  from work s
  cross join lateral (select case when succeeded_at is not null then price else 0 end as taken) t),
${takeTurns(behindLimit(beyond('case when succeeded_at is not null then price else 0 end - new_final_price')))},
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
  update recoup.jobs j set settled_at = s.at, final_price = s.new_final_price${asJudged}),
done as (
  select s.*, w.ord is not null as booked, s.id as job_id, null::text as key, null::text as actor,
    'settle' as type1, taken - new_final_price as amount1, 'final price' as reason1,
    null::text as type2, null::bigint as amount2, null::text as reason2
  from seen s full join won w on w.ord = s.ord),
${bookEntries}${answerEach('book', `case when wins and not booked then 'again' else outcome end`, {
  final_price: 'case when booked then new_final_price else final_price end',
  amount: 'case when settled_at is not null then taken - final_price else amount1 end',
  balance: 'balance_after',
})}`,
);
