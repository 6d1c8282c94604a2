// job.fail: an attempt failed. Retry, dead letter or failed; refund if due and not yet refunded.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { beyond, bookEntries, holdWallets, limitReached } from '../wallets/booking.ts';
import { asJudged, holdJobs, queueOf, takeTurns, withoutJob } from './held.ts';
import { giveSlotsBack } from './slots.ts';

export interface FailRow extends RawAnswer {
  queue: string | null;
  attempt: number | null;
  state: string | null;
  failures: number | null;
  not_before: string | null;
  refunded: boolean;
  balance: number | null;
}

/** What differs between a reported failure and a lapse: where the report's facts come from, and one more condition. */
interface Report {
  due: string;
  verdict: string;
  retryable: string;
  retryAfterMs: string;
  reason: string;
  upstreamRef: string;
  endedAs: string;
  /** CTEs that give the slot back. A lapsed one counts nowhere, and says for an hour when the request of a late report began. */
  slots: string;
  code: string;
}

/**
 * Guard `live`: running or waiting in attempt n (a job without a queue has one attempt, whatever number its caller counts).
 * Guard `late`: queued after attempt n, and a definitive report that brings news: it confirms a presumed failure, or says
 * that a confirmed one will never work (unless a person has redriven the job since), or ends a released attempt. `counts`:
 * the failure of this attempt is not counted yet; else no second count and no second refund. `kills`: it will not run
 * again by itself.
 */
export const failing = (report: Report) => (lock: string) =>
  `${holdWallets(lock)},
${holdJobs(lock, 'held')},
judged as (
  select s.*, q.*, l.*, c.*, k.*, (live or late) and has_wallet as may,
    ${report.verdict} as new_verdict_, ${report.reason} as new_reason_, ${report.upstreamRef} as new_ref_,
    case when queue is null then 'failed' when kills then 'dead' else 'queued' end as next_state,
    refunded_at is null and (refund_on = 'failure' or kills) as refunds,
    -- least() passes over a null, and would make the cap the delay
    case when ${report.retryAfterMs} is not null then least(${report.retryAfterMs}, retry_after_max_ms) * interval '1 millisecond' end as told
  from work s
  left join lateral (${queueOf('s.queue', 'backoff_base_ms, backoff_max_ms, retry_after_max_ms')}) q on true
  cross join lateral (select
    coalesce(state in ('running', 'waiting') and (n = attempt or queue is null) and ${report.due}, false) as live,
    coalesce(state = 'queued' and n = attempt and ${report.verdict} = 'definitive'
      and not (failed_attempt is not distinct from attempt and verdict = 'definitive' and (${report.retryable} or failures = 0)), false) as late) l
  cross join lateral (select failed_attempt is distinct from attempt as counts) c
  cross join lateral (select coalesce(queue is null or not ${report.retryable} or failures + counts::int >= max_failures, false) as kills) k),
${takeTurns()},
seen as materialized (
  select s.*, may and earlier = 0 and not (refunds and ${beyond('price')}) as wins,
    case when next_state = 'queued' then case
      when counts then greatest(not_before, now + greatest(coalesce(told, interval '0'),
        recoup.retry_delay_ms(backoff_base_ms, backoff_max_ms, failures + 1, wallet_id, id, attempt) * interval '1 millisecond'))
      else greatest(not_before, now + told) end end as next_not_before,
    case ${withoutJob}
      when canceled_at is not null then 'canceled'
      when succeeded_at is not null then 'succeeded'
      when n is null and queue is not null then 'attempt_required'
      when earlier > 0 then 'again'
      when not has_wallet then 'busy'
      when may and refunds and ${beyond('price')} then ${limitReached}
      when may then case next_state when 'queued' then 'retrying' when 'dead' then 'dead' else 'refunded' end
      when (n <> attempt and queue is not null) or (state = 'queued' and failed_attempt is distinct from attempt) then 'stale'
      else 'duplicate'
    end as outcome
  from turn s),
won as (
  update recoup.jobs j set
    state = s.next_state, failures = s.failures + s.counts::int, failed_attempt = s.attempt, verdict = s.new_verdict_,
    reason = s.new_reason_, not_before = s.next_not_before, lease_until = null, deadline_at = null,
    dead_at = case when s.next_state = 'dead' then s.at end, refunded_at = case when s.refunds then s.at else s.refunded_at end${asJudged}),
done as (
  select s.*, w.ord is not null as booked, s.id as job_id, null::text as key, null::text as actor,
    case when refunds then 'refund' end as type1, case when refunds then price end as amount1, '${report.code}' as reason1,
    null::text as type2, null::bigint as amount2, null::text as reason2
  from seen s full join won w on w.ord = s.ord),
${bookEntries},
ended as (
  insert into recoup.attempts (wallet_id, job_id, attempt, ended_as, verdict, job_state, reason, worker, upstream_id,
    upstream_ref, started_at, ended_at)
  select wallet_id, id, attempt, case when counts then '${report.endedAs}' when ${report.retryable} then 'confirmed' else 'rejected' end, new_verdict_, next_state, new_reason_, worker,
    upstream_id, coalesce(new_ref_, upstream_ref), started_at, at
  from book where booked)${report.slots}${answerEach(
    'book',
    `case when wins and not booked then 'again' else outcome end`,
    {
      queue: 'queue',
      attempt: 'attempt',
      state: 'case when booked then next_state else state end',
      failures: 'failures + (booked and counts)::int',
      not_before: 'case when booked then next_not_before else not_before end',
      refunded: 'booked and refunds',
      balance: 'balance_after',
    },
  )}`;

const columns = {
  wallet_id: 'text',
  id: 'text',
  n: 'int',
  new_verdict: 'text',
  retryable: 'boolean',
  retry_after_ms: 'bigint',
  new_reason: 'text',
  new_ref: 'text',
} as const;

export const failJob = statement<typeof columns, FailRow>(
  'job.fail',
  columns,
  failing({
    due: 'true',
    verdict: 'new_verdict',
    retryable: 'retryable',
    retryAfterMs: 'retry_after_ms',
    reason: 'new_reason',
    upstreamRef: 'new_ref',
    endedAs: 'failed',
    slots: `,${giveSlotsBack('book', 's.booked')}`,
    code: 'failed',
  }),
);
