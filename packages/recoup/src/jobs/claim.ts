// job.claim: workers take due jobs, each together with a slot of an upstream of the queue's pool, or neither.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { type Reach, shutSubjects } from '../upstreams/candidates.ts';
import { chosenOf, seatsOf, turnOf } from '../upstreams/choose.ts';
import { scopesOf } from '../upstreams/usable.ts';
import { queueOf } from './held.ts';
import { askedOnce, givenJson, givenNow, type LeasedRow, MAX_PAYLOADS, noteGiven } from './lease.ts';
import { slotOf } from './slots.ts';

export interface ClaimRow extends RawAnswer {
  /** Of the queue; null: it has none, its jobs are leased without. */
  pool: string | null;
  jobs: LeasedRow[];
  /** Where they are what the request id was given before: how many it has in the record, and whether that is all it gets. */
  recorded: number | null;
  closed: boolean | null;
}

const columns = {
  queue: 'text',
  model: 'text',
  capability: 'text',
  worker: 'text',
  lease_ms: 'bigint',
  request_id: 'text',
  nth: 'int',
  count: 'int',
} as const;

/**
 * Guard: that of job.lease for the job, that of upstream.select for the upstream, in one statement: both or neither. Nothing is looked at
 * in the pool unless a job is due. Then the upstream comes first: who finds none has locked no job, so that nobody passes over the first
 * one in line for a caller that gets nothing. All rows that are held are passed over, so that the order of locks does not matter here.
 *
 * As many pairs as were asked for, each with an upstream of its own: who asks for more comes again. Always from the front of the queue: a job
 * that an upstream failed is back at its place, and a mark behind it would let others go first. The slot's id comes from job and attempt, and
 * its time is the job's.
 *
 * What a request gets is added to what its id was given (`nth`: so many it has). A repeat goes on where the first one was cut off, unless that
 * one has closed the record, since it found no more.
 *
 * A row that changed between snapshot and lock is left: the write by ctid would not find it, and what is noted must be given (`again`).
 * `none` means "look again, or explain", as in upstream.select.
 */
const claiming = (reach: Reach) => () =>
  `${askedOnce(' and jsonb_array_length(r.jobs) > i.nth')},
ready as materialized (
  select i.*, q.pool, recoup.clock() + coalesce(i.lease_ms, q.lease_ms) * interval '1 millisecond' as until
  from asked i
  cross join lateral (${queueOf('i.queue', 'lease_ms, paused, pool')}) q
  where i.free and not q.paused and q.pool is not null and not exists (select from prior) and exists (
    select from generate_series(0, 9) p cross join lateral (
      select from recoup.jobs where state = 'queued' and queue = i.queue and priority = p and not_before <= recoup.clock() limit 1) j)),
${shutSubjects(reach).trim()}
${chosenOf('ready', reach, { count: '(select count from input)' })},
${seatsOf()},
found as materialized (
  select j.*, row_number() over () as nth from ready i
  cross join lateral (
    select j.* from generate_series(0, 9) p
    cross join lateral (
      select ctid as tid, tableoid as part, wallet_id, id, attempt, not_before, payload_bytes
      from recoup.jobs
      where state = 'queued' and queue = i.queue and priority = p and not_before <= recoup.clock()
      order by not_before limit (select count(*) from seats) for no key update skip locked) j
    limit (select count(*) from seats)) j),
pick as materialized (
  select f.*, row_number() over (order by nth) as place from (select f.*, sum(payload_bytes) over (order by nth) as bytes from found f) f
  where (bytes <= ${MAX_PAYLOADS} or nth = 1) and (select true from recoup.jobs x where x.ctid = f.tid and x.tableoid = f.part)),
${noteGiven(`update set jobs = recoup.lease_requests.jobs || excluded.jobs
    where jsonb_array_length(recoup.lease_requests.jobs) = (select nth from input)`)},
leased as (
  insert into recoup.upstream_leases (id, upstream_id, quota_group, provider, route, scopes, credential_at, holder, leased_at, lease_until)
  select ${slotOf('p', 'p.attempt + 1')}, c.id, c.quota_group, c.provider, c.route, ${scopesOf('i')}, c.credential_at, i.worker, c.now, i.until
  from seats c join pick p using (place) cross join ready i
  where i.request_id is null or exists (select from noted)
  on conflict (id) do update set upstream_id = excluded.upstream_id, quota_group = excluded.quota_group, provider = excluded.provider,
    route = excluded.route, scopes = excluded.scopes, credential_at = excluded.credential_at, holder = excluded.holder,
    leased_at = excluded.leased_at, lease_until = excluded.lease_until
  returning upstream_id as id, lease_until),
won as (
  update recoup.jobs j set
    state = 'running', attempt = j.attempt + 1, lease_until = l.lease_until, worker = i.worker, started_at = recoup.clock(),
    ready_at = p.not_before, not_before = null, upstream_id = l.id, upstream_ref = null
  from pick p join seats c using (place) join leased l on l.id = c.id cross join ready i
  where j.ctid = p.tid and j.tableoid = p.part
  returning j.*),
${turnOf('seats p join leased using (id)')},
${givenNow}
select json_build_array(json_build_object('ord', 1, 'outcome', case
  when exists (select from asked where not free) then 'again'
  when exists (select from given) or exists (select from prior) then 'leased'
  when not exists (select from ready) then 'empty'
  when exists (select from chosen) then 'again'
  else 'none' end,
  'recorded', (select jsonb_array_length(jobs) from prior), 'closed', (select jobs -> -1 = 'null' from prior),
  'pool', (select q.pool from input i cross join lateral (${queueOf('i.queue', 'pool')}) q),
  'jobs', ${givenJson(`, 'upstream', (
        select json_build_object('upstream', u.id, 'provider', u.provider, 'credentialRef', u.credential_ref, 'lease', ${slotOf('j')})
        from recoup.upstreams u where u.id = j.upstream_id)`)}))::text as answer`;

/** Of the first candidates of each range, as a selection does. */
export const claimJob = statement<typeof columns, ClaimRow>('job.claim', columns, claiming('near'));

/** Of all: said where it did not. */
export const claimFurther = statement<typeof columns, ClaimRow>('job.claimFurther', columns, claiming('far'));

const closeColumns = { queue: 'text', request_id: 'text', nth: 'int' } as const;

/** Nothing more is given to that request id, whatever is due later. Guard: it has as many as its asker knows of. */
export const closeClaims = statement<typeof closeColumns, { closed: number }>(
  'job.claim.close',
  closeColumns,
  () => `
closed as (
  update recoup.lease_requests r set jobs = r.jobs || 'null'::jsonb from input i
  where r.queue = i.queue and r.id = i.request_id and jsonb_array_length(r.jobs) = i.nth
  returning r.id)
select json_build_array(json_build_object('closed', (select count(*) from closed)))::text as answer`,
);
