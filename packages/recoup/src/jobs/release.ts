// job.release: a worker gives an attempt back unfinished (shut-down, upstream out). No failure, no refund.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { answerMoved, asJudged, holdJobs, queueOf, takeTurns, withoutJob } from './held.ts';
import { giveSlotsBack } from './slots.ts';

export interface ReleaseRow extends RawAnswer {
  not_before: string | null;
}

/** In this attempt; what is handed over is not given back by its worker, but its upstream may fail it. */
const RUNS = `attempt = n and (state = 'running' or (state = 'waiting' and by_upstream))`;

const columns = {
  wallet_id: 'text',
  id: 'text',
  n: 'int',
  delay_ms: 'bigint',
  new_reason: 'text',
  new_ref: 'text',
  by_upstream: 'boolean',
  may_blame: 'boolean',
} as const;

/**
 * Guard: running, attempt = n, releases below the queue's cap: else a job that nobody wants to run would go round for ever.
 *
 * Where its upstream failed it (`by_upstream`) it goes back to the place that it was leased from, also while it waits: claims wait for the
 * pool, jobs do not. `may_blame`: it may be the job that brought the trouble about, which the queue puts up with fewer times: else it
 * would take one upstream after the other out, at the head of the line again each time.
 */
export const releaseJob = statement<typeof columns, ReleaseRow>(
  'job.release',
  columns,
  (lock) => `${holdJobs(lock, 'input')},
judged as (
  select s.*, coalesce(${RUNS}, false) as mine,
    coalesce(${RUNS} and releases < q.max_releases and not (may_blame and upstream_errors >= q.max_upstream_errors), false) as may
  from work s
  left join lateral (${queueOf('s.queue', 'max_releases, max_upstream_errors')}) q on true),
${takeTurns()},
seen as materialized (
  select s.*, may and earlier = 0 as wins, case when by_upstream then coalesce(ready_at, now) else now + coalesce(delay_ms, 0) * interval '1 millisecond' end as next_not_before,
    case ${withoutJob}
      when canceled_at is not null then 'canceled'
      when succeeded_at is not null then 'succeeded'
      when earlier > 0 then 'again'
      when may then 'released'
      when mine then 'release_limit'
      when state = 'queued' and attempt = n and failed_attempt is distinct from n then 'duplicate'
      else 'stale'
    end as outcome
  from turn s),
won as (
  update recoup.jobs j set
    state = 'queued', releases = s.releases + 1, upstream_errors = s.upstream_errors + coalesce(s.may_blame, false)::int,
    not_before = s.next_not_before, lease_until = null, deadline_at = null${asJudged}),
ended as (
  insert into recoup.attempts (wallet_id, job_id, attempt, ended_as, job_state, reason, worker, upstream_id, upstream_ref, started_at, ended_at)
  select wallet_id, id, attempt, 'released', 'queued', new_reason, worker, upstream_id, coalesce(new_ref, upstream_ref), started_at, at
  from seen join won using (ord)),${giveSlotsBack('seen', 's.wins')}${answerMoved({ not_before: 'case when moved then next_not_before else not_before end' })}`,
);
