// job.release: a worker gives an attempt back unfinished (shut-down, upstream out). No failure, no refund.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { answerMoved, asJudged, holdJobs, queueOf, takeTurns, withoutJob } from './held.ts';

export interface ReleaseRow extends RawAnswer {
  not_before: string | null;
}

const columns = {
  wallet_id: 'text',
  id: 'text',
  n: 'int',
  delay_ms: 'bigint',
  new_reason: 'text',
  new_ref: 'text',
} as const;

/** Guard: running, attempt = n, releases below the queue's cap: else a job that nobody wants to run would go round for ever. */
export const releaseJob = statement<typeof columns, ReleaseRow>(
  'job.release',
  columns,
  (lock) => `${holdJobs(lock, 'input')},
judged as (
  select s.*, q.max_releases, coalesce(state = 'running' and attempt = n, false) as mine,
    coalesce(state = 'running' and attempt = n and releases < q.max_releases, false) as may
  from work s
  left join lateral (${queueOf('s.queue', 'max_releases')}) q on true),
${takeTurns()},
seen as materialized (
  select s.*, may and earlier = 0 as wins, now + coalesce(delay_ms, 0) * interval '1 millisecond' as next_not_before,
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
    state = 'queued', releases = s.releases + 1, not_before = s.next_not_before, lease_until = null${asJudged}),
ended as (
  insert into recoup.attempts (wallet_id, job_id, attempt, ended_as, job_state, reason, worker, upstream_id, upstream_ref, started_at, ended_at)
  select wallet_id, id, attempt, 'released', 'queued', new_reason, worker, upstream_id, coalesce(new_ref, upstream_ref), started_at, at
  from seen join won using (ord))${answerMoved({ not_before: 'case when moved then next_not_before else not_before end' })}`,
);
