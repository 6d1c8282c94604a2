// probe.claim, probe.lapse: who asks about a block is the only one, for as long as an answer may take.

import { type Columns, statement } from '../db/statement.ts';
import { quotasOn } from '../upstreams/usable.ts';
import type { HttpProbe } from './http.ts';
import { isDue, LONGEST_GATE, SPARE_MS } from './rules.ts';

const columns = { pools: 'jsonb', http: 'boolean', holder: 'text', count: 'int' } as const satisfies Columns;

export interface ClaimedRow {
  /** Null: it was looked at, and not asked. */
  probe: number | null;
  outcome: 'claimed' | 'skipped' | 'waiting';
  block: number;
  kind: 'due' | 'early' | 'asked';
  subject: string;
  scope: string;
  policy: string;
  upstream: string;
  pool: string;
  provider: string;
  credentialRef: string | null;
  http: HttpProbe | null;
  cost: Record<string, number>;
  timeoutMs: number;
}

/**
 * The upstream to ask through about the block `b`: itself; of what is shared the one that failed, or else any that nobody has to see to, which
 * is looked for only then.
 */
const target = (b: string) => `
    select u.id, u.pool, u.provider, u.credential_ref, u.credential_at, m.every_ms, m.timeout_ms, m.http, m.cost
    from (
      select * from recoup.upstreams u where u.id = case ${b}.subject_type when 'upstream' then ${b}.subject_id else ${b}.told_by end
      union all
      (select u.* from mine m
       cross join lateral (select * from recoup.upstreams u where u.pool = m.pool and u.status = 'on') u
       where ${b}.subject_type <> 'upstream' and case ${b}.subject_type when 'quota_group' then u.quota_group when 'provider' then u.provider when 'route' then u.route end = ${b}.subject_id
       limit 1)) u
    join mine m on m.pool = u.pool
    where u.status = 'on' and (${b}.subject_type = 'upstream' or u.blocked_until is distinct from 'infinity')
    limit 1`;

/**
 * Guard: the block is open, nobody asks about it, and its time is up and it waits for an answer; or its next check has come, and a provider
 * ordered no wait that lasts. Through an upstream that is on, in a pool that this process has a prober for, and none of whose limits is used up
 * (`waiting`). What only a person ends is asked where a person wants it, or another credential has come since; else it is passed over
 * (`skipped`), and so is what a person has decided. What lets trials in needs no check (`waiting`).
 *
 * The row of the block is held, and looked at once more: of replicas that see one due block, one finds it so. A check moves on with its claim, to
 * when the lease is over: a question that nobody answers is asked again.
 */
export const claimProbes = statement<typeof columns, ClaimedRow>(
  'probe.claim',
  columns,
  () => `
mine as materialized (
  select p.* from input i join recoup.probers p on case p.kind when 'http' then i.http else i.pools ? p.pool end),
candidates as materialized (
  (select b.id, true as due, t.* from input i
   cross join lateral (
     select b.* from recoup.blocks b
     where b.closed_at is null and b.gate_ms is not null and b.until > recoup.clock() - ${LONGEST_GATE} and ${isDue('b')} and b.policy <> 'manual'
     order by b.until, b.id) b
   cross join lateral (${target('b')}) t (upstream_id)
   where exists (select from mine) and not exists (select from recoup.probes p where p.block_id = b.id and p.ended_at is null)
     and not exists (select from recoup.upstreams u cross join lateral (${quotasOn('u', 'array[b.scope]')}) q where u.id = t.upstream_id)
   limit (select count from input))
  union all
  (select b.id, false, t.* from input i
   cross join lateral (
     select b.* from recoup.blocks b where b.closed_at is null and b.next_check_at is not null and b.next_check_at <= recoup.clock()
     order by b.next_check_at, b.id) b
   cross join lateral (${target('b')}) t (upstream_id)
   where exists (select from mine) and not exists (select from recoup.probes p where p.block_id = b.id and p.ended_at is null)
   limit (select count from input))),
held as materialized (
  select c.*, b.*, recoup.clock() as now
  from (select distinct on (id) * from candidates order by id, due desc) c
  cross join lateral (
    select b.generation, b.subject_type, b.subject_id, b.scope, b.kind as b_kind, b.source, b.policy, b.until, b.evidence_at, b.asked_at, b.asked_by
    from recoup.blocks b
    where b.id = c.id and b.closed_at is null and (case when c.due then ${isDue('b')} else b.next_check_at <= recoup.clock() end)
    for no key update skip locked) b),
seen as materialized (
  select h.*, case when asked_at is not null then 'asked' when due then 'due' else 'early' end as p_kind, case
    when policy = 'manual' and (b_kind = 'operator' or (asked_at is null and coalesce(credential_at <= evidence_at, true))) then 'skipped'
    when not due and (source = 'retry_after' and until > now or until <= now and asked_at is null
      or exists (select from recoup.upstreams u cross join lateral (${quotasOn('u', 'array[h.scope]')}) q where u.id = h.upstream_id)) then 'waiting'
    else 'claimed' end as verdict
  from held h),
won as (
  insert into recoup.probes (block_id, generation, upstream_id, pool, source, kind, until, claimed_by, asked_at, asked_by, started_at, lease_until)
  select s.id, s.generation, s.upstream_id, s.pool, s.source, s.p_kind, s.until, i.holder, case s.p_kind when 'asked' then s.asked_at end,
    case s.p_kind when 'asked' then s.asked_by end, s.now, s.now + (s.timeout_ms + ${SPARE_MS}) * interval '1 millisecond'
  from seen s cross join input i where s.verdict = 'claimed'
  on conflict (block_id) where ended_at is null do nothing
  returning id, block_id, lease_until),
moved as (
  update recoup.blocks b set next_check_at = coalesce(w.lease_until, s.now + s.every_ms * interval '1 millisecond')
  from seen s left join won w on w.block_id = s.id
  where b.id = s.id and not s.due and (s.verdict <> 'claimed' or w.id is not null))
select coalesce(json_agg(json_build_object('probe', w.id, 'outcome', s.verdict, 'block', s.id, 'kind', s.p_kind, 'subject', s.subject_type, 'scope', s.scope,
  'policy', s.policy, 'upstream', s.upstream_id, 'pool', s.pool, 'provider', s.provider, 'credentialRef', s.credential_ref, 'http', s.http, 'cost', s.cost,
  'timeoutMs', s.timeout_ms) order by s.id), '[]')::text as answer
from seen s left join won w on w.block_id = s.id where s.verdict <> 'claimed' or w.id is not null`,
);

const counted = { count: 'int' } as const satisfies Columns;

/** Guard: nobody answered while the lease was his. Whoever asks next is another; an answer that still comes is kept, and changes nothing. */
export const lapseProbes = statement<typeof counted, { lapsed: number }>(
  'probe.lapse',
  counted,
  () => `
old as (
  select id from recoup.probes where ended_at is null and lease_until <= recoup.clock()
  order by lease_until limit (select count from input) for update skip locked),
gone as (
  update recoup.probes p set ended_at = recoup.clock(), outcome = 'lapsed'
  from old o where p.id = o.id and p.ended_at is null and p.lease_until <= recoup.clock()
  returning p.id)
select json_build_array(json_build_object('lapsed', (select count(*) from gone)))::text as answer`,
);

/** Probes of long ago: what they bought is no news any more. */
export const forgetProbes = statement<typeof counted, { forgotten: number }>(
  'probe.forget',
  counted,
  () => `
old as (
  select id from recoup.probes where started_at < recoup.clock() - interval '90 days' and ended_at is not null
  order by started_at limit (select count from input) for update skip locked),
gone as (delete from recoup.probes p using old o where p.id = o.id returning p.id)
select json_build_array(json_build_object('forgotten', (select count(*) from gone)))::text as answer`,
);
