// job.lease: a worker takes jobs that are due. Fencing starts here: each take is a new attempt number.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { queueOf } from './held.ts';
import { type JobRow, jobJson } from './job.ts';

export interface LeaseRow extends RawAnswer {
  jobs: LeasedRow[];
  /** Per priority, where the next bounded claim may start: 30 s before the newest not_before taken. */
  marks: Record<string, string> | null;
  /** With a request id: due jobs were seen and none was got. Somebody holds them, or the same request has just taken them. */
  passed: boolean;
  /** The queue has a pool: its jobs are leased with an upstream of it, by job.claim. */
  pooled: boolean;
}
export interface LeasedRow {
  job: JobRow;
  payload: unknown;
  /** The upstream that it was leased with, where its queue has a pool. */
  upstream: LeasedUpstream | null;
  /** Set where an earlier attempt ended without success: what is known of it, for asking the upstream before paying again. */
  earlier: { attempt: number | null; verdict: string | null; reason: string | null; upstreamRef: string | null } | null;
}

/** The upstream in a worker's hands. */
export interface LeasedUpstream {
  upstream: string;
  provider: string;
  /** Where its credential is kept. */
  credentialRef: string | null;
  /** Its slot, kept and given back with the job. */
  lease: string;
}

const columns = {
  queue: 'text',
  count: 'int',
  worker: 'text',
  lease_ms: 'bigint',
  request_id: 'text',
  marks: 'jsonb',
} as const;

/** Bytes of payloads that one answer of several jobs carries at most. */
export const MAX_PAYLOADS = 16_000_000;

const REQUEST_LOCK = `hashtextextended(json_build_array('recoup.lease', queue, request_id)::text, 0)`;

/** CTEs `prior` and `asked`: what the input's request id was given before (where `and` holds), and whether its turn is now (`free`). */
export const askedOnce = (and = '') => `
prior as materialized (
  select r.jobs from input i join recoup.lease_requests r on r.queue = i.queue and r.id = i.request_id${and}),
asked as materialized (
  select i.*, case
    when request_id is null or exists (select from prior) then true
    when pg_try_advisory_xact_lock(${REQUEST_LOCK}) then true
    else pg_advisory_xact_lock(${REQUEST_LOCK})::text is null end as free
  from input i)`;

/** CTE `noted`: what is given to a request id, recorded; where something is `there`, once. */
export const noteGiven = (there = 'nothing') => `noted as (
  insert into recoup.lease_requests (queue, id, jobs, created_at)
  select i.queue, i.request_id, (select jsonb_agg(jsonb_build_array(wallet_id, id, attempt + 1)) from pick), recoup.clock()
  from input i where i.request_id is not null and exists (select from pick)
  on conflict (queue, id) do ${there}
  returning id)`;

/** CTE `given`: what was given before and still runs in that attempt, and what is leased now (`won`). */
export const givenNow = `given as (
  select j.* from prior cross join lateral jsonb_array_elements(prior.jobs) e
  cross join lateral (
    select * from recoup.jobs j
    where j.wallet_id = e ->> 0 and j.id = e ->> 1 and j.attempt = (e ->> 2)::int and j.state = 'running') j
  union all select * from won)`;

/** The answer's jobs, from `given j`, each with `more` fields. */
export const givenJson = (
  more = '',
) => `coalesce((select json_agg(json_build_object('job', ${jobJson('j')}, 'payload', j.payload, 'earlier',
      case when j.failed_attempt is not null then json_build_object('attempt', j.failed_attempt, 'verdict', j.verdict, 'reason', j.reason,
        'upstreamRef', (select a.upstream_ref from recoup.attempts a where a.wallet_id = j.wallet_id and a.job_id = j.id
                        and a.attempt < j.attempt and a.upstream_ref is not null order by a.attempt desc limit 1)) end${more})
    order by j.priority, j.submitted_at, j.id)
    from given j), '[]')`;

/**
 * Guard: queued, not_before ≤ clock, queue not paused and without a pool. One index range per priority, walked lazily under the limit, so
 * that a claim reads only what it takes. `marks` (an instant per priority, trailing what this process claimed lately)
 * spares it the dead index entries that a held snapshot keeps; a claim without marks runs now and then and finds the rest.
 *
 * With a request id the jobs given are recorded in the same statement; who asks again gets those of them that still run
 * in that attempt. Two askers at once: the second waits for the first and runs again (`free`). The record's key alone would not
 * make it wait: where the first has taken all that is due, the second would find nothing, and would be told so. One whose
 * snapshot is older than the first's commit says that it saw due jobs and got none (`passed`): it has to look once more.
 */
export const leaseJobs = statement<typeof columns, LeaseRow>(
  'job.lease',
  columns,
  () => `${askedOnce()},
found as materialized (
  select j.*, row_number() over () as place, i.worker, recoup.clock() as now, recoup.clock() + coalesce(i.lease_ms, q.lease_ms) * interval '1 millisecond' as until
  from asked i
  cross join lateral (${queueOf('i.queue', 'lease_ms, paused, pool')}) q
  cross join lateral (
    select j.* from generate_series(0, 9) p
    cross join lateral (
      select ctid as tid, tableoid as part, wallet_id, id, attempt, priority, not_before, payload_bytes
      from recoup.jobs
      where state = 'queued' and queue = i.queue and priority = p and not_before <= recoup.clock()
        and not_before >= coalesce((i.marks ->> p::text)::timestamptz, '-infinity')
      order by not_before limit i.count for no key update skip locked) j
    limit i.count) j
  where i.free and not q.paused and q.pool is null and not exists (select from prior)),
-- One answer carries at most so many bytes of payload, or one job: the others are left to the next claim. So are, with a
-- request id, jobs that changed between snapshot and lock: the write by ctid does not find them, and what is noted must be given.
pick as materialized (
  select * from (select f.*, sum(payload_bytes) over (order by place) as bytes from found f) f
  where (bytes <= ${MAX_PAYLOADS} or place = 1)
    and case when (select request_id from input) is null then true else (select true from recoup.jobs j where j.ctid = f.tid and j.tableoid = f.part) end),
${noteGiven()},
won as (
  update recoup.jobs j set
    state = 'running', attempt = j.attempt + 1, lease_until = p.until, worker = p.worker,
    started_at = p.now, not_before = null, upstream_id = null, upstream_ref = null
  from pick p
  where j.ctid = p.tid and j.tableoid = p.part and (exists (select from input where request_id is null) or exists (select from noted))
  returning j.*),
${givenNow}
select json_build_array(json_build_object('ord', 1, 'outcome',
  case when exists (select from asked where not free) or (exists (select from input where request_id is not null)
      and exists (select from pick) and not exists (select from noted))
    then 'again' else 'leased' end,
  'marks', (select json_object_agg(m.priority, m.mark) from
    (select priority, max(not_before) - interval '30 seconds' as mark from pick group by priority) m),
  'passed', (select request_id is not null and not exists (select from prior) and not exists (select from pick) and exists (
    select from generate_series(0, 9) p cross join lateral (
      select from recoup.jobs where state = 'queued' and queue = i.queue and priority = p and not_before <= recoup.clock() limit 1) j) from input i),
  'pooled', (select q.pool is not null from input i cross join lateral (${queueOf('i.queue', 'pool')}) q),
  'jobs', ${givenJson()}))::text as answer`,
);
