// job.succeed: the work is done, whoever says so and however late. Reclaims what was refunded; settles a final price.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { behindLimit, beyond, bookDecided, holdWallets, limitReached } from '../wallets/booking.ts';
import { asJudged, holdJobs, takeTurns, withoutJob } from './held.ts';
import { giveSlotsBack } from './slots.ts';

export interface SucceedRow extends RawAnswer {
  state: string | null;
  succeeded_attempt: number | null;
  succeeded_at: string | null;
  reclaimed: boolean;
  final_price: number | null;
  balance: number | null;
}

const columns = {
  wallet_id: 'text',
  id: 'text',
  n: 'int',
  new_final_price: 'bigint',
  new_result: 'jsonb',
  new_ref: 'text',
} as const;

/**
 * Whether money will move, as the snapshot sees it: only then does a shared batch lock the wallet; a plain success touches
 * none. A statement that waits always takes it first: taken second, in the next round, it would stand behind the job.
 */
const moneyAhead = (input: string) => `(${input}.new_final_price is not null or (
  select refunded_at from recoup.jobs j where j.wallet_id = ${input}.wallet_id and j.id = ${input}.id) is not null)`;

/**
 * Guard: not succeeded, not canceled; any attempt, any other state. If the job was refunded after the snapshot, its
 * wallet is not held yet: then the input runs again and holds it.
 */
export const succeedJob = statement<typeof columns, SucceedRow>(
  'job.succeed',
  columns,
  (lock) => `${holdWallets(lock, lock === '' ? 'true' : moneyAhead('input'))},
${holdJobs(lock, 'held')},
judged as (
  select s.*, ${beyond('case when refunded_at is not null then -price else 0 end', 'coalesce(price - new_final_price, 0)')} as over,
    coalesce(n, attempt) as done_attempt, refunded_at is not null as reclaims,
    coalesce(has_job and succeeded_at is null and canceled_at is null, false)
      and (has_wallet or (refunded_at is null and new_final_price is null)) as may
  from work s),
${takeTurns(behindLimit(beyond('case when refunded_at is not null then -price else 0 end', 'coalesce(price - new_final_price, 0)')))},
seen as materialized (
  select s.*, may and earlier = 0 and not over as wins,
    case ${withoutJob}
      when canceled_at is not null then 'canceled'
      when succeeded_at is not null then 'duplicate'
      when earlier > 0 then 'again'
      when may and over then ${limitReached}
      when may then case when reclaims then 'reclaimed' else 'succeeded' end
      when ${moneyAhead('s')} then 'busy'
      else 'again'
    end as outcome
  from turn s),
won as (
  update recoup.jobs j set
    state = 'succeeded', succeeded_at = s.at, succeeded_attempt = s.done_attempt,
    reclaimed_at = case when s.reclaims then s.at end, settled_at = case when s.new_final_price is not null then s.at end,
    final_price = s.new_final_price, upstream_ref = coalesce(s.new_ref, s.upstream_ref), result = s.new_result,
    not_before = null, lease_until = null, deadline_at = null, dead_at = null${asJudged}),
done as (
  select s.*, w.ord is not null as booked, s.id as job_id, null::text as key, null::text as actor,
    case when reclaims then 'reclaim' end as type1, case when reclaims then -price end as amount1, 'late success' as reason1,
    case when new_final_price is not null then 'settle' end as type2, price - new_final_price as amount2, 'final price' as reason2
  from seen s full join won w on w.ord = s.ord),
${bookDecided},
ended as (
  insert into recoup.attempts (wallet_id, job_id, attempt, ended_as, job_state, worker, upstream_id, upstream_ref, started_at, ended_at)
  select b.wallet_id, b.id, e.attempt, e.ended_as, 'succeeded', e.worker, e.upstream_id, e.upstream_ref, e.started_at, b.at
  from book b
  cross join lateral (
    select done_attempt as attempt, 'succeeded' as ended_as, case when done_attempt = b.attempt then worker end as worker,
      case when done_attempt = b.attempt then upstream_id end as upstream_id,
      coalesce(new_ref, case when done_attempt = b.attempt then b.upstream_ref end) as upstream_ref,
      case when done_attempt = b.attempt then started_at end as started_at
    union all
    select b.attempt, 'superseded', worker, upstream_id, b.upstream_ref, started_at
    where b.state in ('running', 'waiting') and done_attempt <> b.attempt) e
  where b.booked),${giveSlotsBack('book', `s.booked and s.state in ('running', 'waiting')`)}${answerEach(
    'book',
    `case when wins and not booked then 'again' else outcome end`,
    {
      state: `case when booked then 'succeeded' else state end`,
      succeeded_attempt: 'case when booked then done_attempt else succeeded_attempt end',
      succeeded_at: 'case when booked then at else succeeded_at end',
      reclaimed: 'case when booked then reclaims else reclaimed_at is not null end',
      final_price: 'case when booked then new_final_price else final_price end',
      balance: 'balance_after',
    },
  )}`,
);
