// job.release: a worker gives an attempt back unfinished (shut-down, upstream out). No failure, no refund.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { holdJobs, queueOf, takeTurns, withoutJob } from './held.ts';

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
judged as materialized (
  select s.*, q.max_releases, coalesce(state = 'running' and attempt = n, false) as mine,
    coalesce(state = 'running' and attempt = n and releases < q.max_releases, false) as may
  from work s
  left join lateral (${queueOf('s.queue', 'max_releases')}) q on true),
${takeTurns},
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
  insert into recoup.jobs as j (wallet_id, id, queue, state, price, max_failures, attempt, failures, releases, not_before)
  select wallet_id, id, queue, 'queued', price, max_failures, attempt, failures, releases + 1, next_not_before from seen where wins
  on conflict (wallet_id, id) do update set
    state = 'queued', releases = excluded.releases, not_before = excluded.not_before, lease_until = null
  where j.state = 'running' and j.attempt = excluded.attempt
  returning j.wallet_id, j.id),
done as materialized (
  select s.*, coalesce(s.wins and w.id is not null, false) as moved
  from seen s full join won w on w.wallet_id = s.wallet_id and w.id = s.id),
ended as (
  insert into recoup.attempts (wallet_id, job_id, attempt, ended_as, job_state, reason, worker, upstream_id, upstream_ref, started_at, ended_at)
  select wallet_id, id, attempt, 'released', 'queued', new_reason, worker, upstream_id, coalesce(new_ref, upstream_ref), started_at, at
  from done where moved)
select coalesce(json_agg(json_build_object('ord', ord, 'outcome', case when wins and not moved then 'again' else outcome end,
  'not_before', case when moved then next_not_before else not_before end)), '[]')::text as answer
from done`,
);
