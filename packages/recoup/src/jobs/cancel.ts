// job.cancel: the job is given up. Refund if not yet refunded; what a delivered part is worth may be kept.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { behindLimit, beyond, bookDecided, holdWallets, limitReached } from '../wallets/booking.ts';
import { asJudged, holdJobs, takeTurns, withoutJob } from './held.ts';
import { giveSlotsBack } from './slots.ts';

export interface CancelRow extends RawAnswer {
  state: string | null;
  refunded: boolean;
  kept: number | null;
  balance: number | null;
}

const columns = { wallet_id: 'text', id: 'text', kept: 'bigint', new_reason: 'text' } as const;

/** Guard: not succeeded, not canceled. A success that comes later is refused: its result must not be handed out. */
export const cancelJob = statement<typeof columns, CancelRow>(
  'job.cancel',
  columns,
  (lock) => `${holdWallets(lock)},
${holdJobs(lock, 'held')},
judged as (
  select s.*, ${beyond('case when refunded_at is null then price else 0 end', '-coalesce(kept, 0)')} as over, refunded_at is null as refunds,
    coalesce(has_job and succeeded_at is null and canceled_at is null, false) and has_wallet as may
  from work s),
${takeTurns(behindLimit(beyond('case when refunded_at is null then price else 0 end', '-coalesce(kept, 0)')))},
seen as materialized (
  select s.*, may and earlier = 0 and not over as wins,
    case ${withoutJob}
      when canceled_at is not null then 'duplicate'
      when succeeded_at is not null then 'succeeded'
      when earlier > 0 then 'again'
      when not has_wallet then 'busy'
      when over then ${limitReached}
      else 'canceled'
    end as outcome
  from turn s),
won as (
  update recoup.jobs j set
    state = 'canceled', canceled_at = s.at, refunded_at = case when s.refunds then s.at else s.refunded_at end,
    settled_at = case when s.kept is not null then s.at end, final_price = s.kept, reason = coalesce(s.new_reason, s.reason),
    not_before = null, lease_until = null, deadline_at = null, dead_at = null${asJudged}),
done as (
  select s.*, w.ord is not null as booked, s.id as job_id, null::text as key, null::text as actor,
    case when refunds then 'refund' end as type1, case when refunds then price end as amount1, 'canceled' as reason1,
    case when kept is not null then 'settle' end as type2, -kept as amount2, 'kept' as reason2
  from seen s full join won w on w.ord = s.ord),
${bookDecided},
ended as (
  insert into recoup.attempts (wallet_id, job_id, attempt, ended_as, job_state, reason, worker, upstream_id, upstream_ref, started_at, ended_at)
  select wallet_id, id, attempt, 'canceled', 'canceled', new_reason, worker, upstream_id, upstream_ref, started_at, at
  from book where booked and state in ('running', 'waiting')),${giveSlotsBack('book', `s.booked and s.state in ('running', 'waiting')`)}${answerEach(
    'book',
    `case when wins and not booked then 'again' else outcome end`,
    {
      state: `case when booked then 'canceled' else state end`,
      refunded: 'booked and refunds',
      kept: 'case when booked then kept else final_price end',
      balance: 'balance_after',
    },
  )}`,
);
