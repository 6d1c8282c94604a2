// upstream.report: what an answer of the provider means. A failure opens, extends or re-opens a block; a success closes what it refutes.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { OF_CREDENTIAL } from './credential.ts';
import { firstCheck, proberOf } from './gates.ts';
import { subjectsOf } from './usable.ts';

export interface ReportRow extends RawAnswer {
  block: number | null;
  until: string | null;
  step: number | null;
  closed: number;
  /** Policy and outcome of each block that it closed, tried with success or opened again. */
  recoveries: [policy: string, outcome: string][] | null;
  provider: string;
  /** The quota group and the route that the request had; null of an upstream that is not there. */
  way: { group: string | null; route: string } | null;
  /** When the request began, to the microsecond. */
  began: string;
  /** Whether the block waits for a probe when its time is up. */
  gated: boolean | null;
}

const columns = {
  upstream_id: 'text',
  lease_id: 'text',
  started_at: 'timestamptz',
  elapsed_ms: 'bigint',
  way: 'jsonb',
  success: 'boolean',
  scopes: 'jsonb',
  subject_type: 'text',
  scope: 'text',
  kind: 'text',
  source: 'text',
  policy: 'text',
  hint_ms: 'bigint',
  announced_until: 'timestamptz',
  reason: 'text',
  next_step: 'text',
  actor: 'text',
} as const;

/** Without a hint: 30 s doubled with each step, up to 5 minutes. */
export const nominal = (step: string) => `least(30 * power(2, least(${step} - 1, 10)), 300) * interval '1 second'`;
/** An order to wait is obeyed up to an hour: more is a mistake of the provider's. */
const CAPPED = `least(hint_ms, 3600000) * interval '1 millisecond'`;
const ANNOUNCED = `coalesce(announced_until, now + hint_ms * interval '1 millisecond')`;

/** The same instant, as two clocks and two distances tell it. */
export const same = (one: string, other: string) => `abs(extract(epoch from ${one} - ${other})) < 1`;

/** A block that is manual, or becomes so, has no end. */
const NEXT_UNTIL = `case when 'manual' in (policy, b_policy) then null else case source
      when 'retry_after' then greatest(b_until, now + ${CAPPED})
      when 'reset_announced' then case when b_until > now and ${same('b_until', ANNOUNCED)} then b_until else ${ANNOUNCED} end
      else greatest(b_until, now + coalesce(hint_ms * interval '1 millisecond', ${nominal('step_no')})) end end`;

/**
 * Of a success `s`, which open blocks `b` in its scopes (what it says, and what its lease was for) it speaks against: those of which nothing was heard since its request started. One that was
 * under way beside a failure saw the same minute, and says nothing against it; nor does the second of two trials that ran side by side
 * say more than the first. A used-up quota is ended early by a snapshot alone. What only a person ends stays, and shows since when
 * something speaks against it; what a person has decided (`operator`) was never about how it answers.
 */
const refutes = (s: string) => `b.closed_at is null and ${s}.of_scopes ? b.scope
      and (select e.at from recoup.block_events e where e.block_id = b.id order by e.generation desc limit 1) < ${s}.began
      and case b.policy when 'manual' then b.kind <> 'operator' and b.contradicted_at is null when 'snapshot' then b.until <= ${s}.began else true end`;

/** Whether the last block that a failure `j` could have been about was ended after its request began: not by time, which knows nothing. */
const ENDED_SINCE = `exists (
        select from recoup.blocks c where c.subject_type = j.on_type and c.subject_id = j.subject_id and c.closed_at > j.began
          and c.scope = j.scope and c.kind = j.kind and c.source = j.source and c.closed_as <> 'time')`;

/** The open blocks of the upstream of `s` and of what it shares with others. */
const blocksAround = (s: string, where: string) => `${subjectsOf(s, 'upstream_id')}
    cross join lateral (
      select b.id as b_id from recoup.blocks b where b.subject_type = subject.type and b.subject_id = subject.id and ${where} offset 0) b`;

/** When the request of an input `i` with the lease `l` began. */
const BEGAN = `least(coalesce(l.leased_at, i.started_at, recoup.clock() - coalesce(i.elapsed_ms, 0) * interval '1 millisecond'), recoup.clock())`;

/** The lease `l` of an input `i`, held. */
const heldLease = (lock: string) => `(
    select leased_at, to_jsonb(scopes) as leased_for, credential_at as leased_by, quota_group as leased_group, route as leased_route
    from recoup.upstream_leases
    where id = i.lease_id and upstream_id = i.upstream_id for no key update ${lock}) l`;

/** The group and the route that the request of the input `i` had: those of its lease `l`, else what is said (`way`), else those of its upstream `u` now. */
const WAY = `(
    select case when l.leased_at is not null then l.leased_group when i.way is not null then i.way->>'group' else u.quota_group end collate "C" as quota_group,
      coalesce(l.leased_route, i.way->>'route', u.route) collate "C" as route) w`;

/**
 * When the request started decides: the lease's instant, or what the caller says. A failure of a request that was under way when the
 * block opened, or when the last one of its kind was ended, changes nothing (`duplicate`): five in flight are one step, and what a person
 * or a success has ended is not opened again by older news; what a person decides is no news of a request. One that started later extends it, and where the block was
 * due already (a trial that failed) raises its step, and one that needs a person makes it manual. A `retry_after` or `backoff` never
 * shortens; of announced resets the newest counts. What a request of before the credential was replaced says of the credential is old
 * (`duplicate`): its lease says of which one it is, since an instant tells not when a change was committed.
 *
 * What its upstream shared when the request was sent is what it speaks of: the group and the route of its lease, whatever was changed since. So a
 * trial ends where it was counted.
 *
 * The route that is none, `direct`, is every upstream's way to its provider: what is said of it concerns the provider alone.
 *
 * A report under a lease that is gone, with nothing else to say when the request started, was heard before (or comes more than an hour
 * after the lease lapsed): it changes nothing (`duplicate`), so that a repeat is not taken for a request of now. The lease's
 * row is held for that, too: of two reports under one lease, or a report and a release, one is heard.
 *
 * A success closes the blocks (auto, rolling) of its upstream, group, provider and route in its scopes of which nothing was heard since its
 * request started; one that was due then, whatever its policy, lets in twice as many trials, and closes after the one behind eight.
 *
 * A success that nothing blocked in its scopes stands against is `plain`: it holds no row and waits for none, as most are. A failure
 * that is reported beside it may open a block just then; it would have, had it come after.
 *
 * Otherwise the upstream's row is held first: reports about one upstream take turns. `generation` says whether its blocks changed between
 * snapshot and lock; then it runs again. So it does where the row itself is another version and is to be written, as a selection leaves
 * it: an update finds what its snapshot sees. A block that a rival opened meanwhile on a shared subject is met by the unique index.
 */
export const reportUpstream = statement<typeof columns, ReportRow>(
  'upstream.report',
  columns,
  (lock) => `
plain as materialized (
  select i.ord, i.lease_id, i.upstream_id, u.provider, w.quota_group, w.route, ${BEGAN} as began
  from input i
  cross join lateral (select id, provider, quota_group, route from recoup.upstreams where id = i.upstream_id offset 0) u
  left join lateral ${heldLease(lock)} on true
  cross join lateral ${WAY}
  cross join lateral (select i.upstream_id, u.provider, w.quota_group, w.route) x
  where i.success and (i.lease_id is null or l.leased_at is not null)
    and not exists (select from input f where f.upstream_id = i.upstream_id and not f.success or f.lease_id = i.lease_id and f.ord <> i.ord)
    and not exists (select from ${subjectsOf('x', 'upstream_id')} cross join lateral (
      select b.scope from recoup.blocks b where b.subject_type = subject.type and b.subject_id = subject.id and b.closed_at is null offset 0) b
      where (i.scopes || coalesce(l.leased_for, '[]')) ? b.scope)),
held as materialized (
  select i.*, u.has_upstream, u.tid, u.part, u.pool, u.provider, u.generation, u.credential_at, w.*, recoup.clock() as now, ${BEGAN} as began, i.scopes || coalesce(l.leased_for, '[]') as of_scopes,
    case i.subject_type when 'upstream' then i.upstream_id when 'quota_group' then coalesce(w.quota_group, i.upstream_id)
      when 'provider' then u.provider when 'route' then coalesce(nullif(w.route, 'direct'), u.provider) end as subject_id,
    case when i.subject_type = 'quota_group' and w.quota_group is null then 'upstream'
      when i.subject_type = 'route' and w.route = 'direct' then 'provider' else i.subject_type end as on_type,
    i.lease_id is not null and coalesce(l.leased_at::text, i.started_at::text, i.elapsed_ms::text) is null as reported,
    l.leased_at is not null and l.leased_by is distinct from u.credential_at as old_credential,
    l.leased_at is null and exists (
      select from recoup.upstream_leases x where x.id = i.lease_id and x.upstream_id = i.upstream_id) as lease_held,
    row_number() over (partition by i.upstream_id order by i.ord) as nth
  from (select * from input where ord not in (select ord from plain) order by upstream_id, ord) i
  left join lateral (
    select true as has_upstream, ctid as tid, tableoid as part, pool, provider, quota_group, route, generation, credential_at
    from recoup.upstreams where id = i.upstream_id for no key update ${lock}) u on true
  left join lateral ${heldLease(lock)} on true
  left join lateral ${WAY} on true),
judged as materialized (
  select h.*, b.*, kind is not null and not success as fails,
    row_number() over (partition by on_type, subject_id, scope, kind, source order by h.ord) as nth_of_block,
    (select generation from recoup.upstreams u where u.id = h.upstream_id) is distinct from h.generation as moved,
    (select ctid from recoup.upstreams u where u.id = h.upstream_id) is distinct from h.tid as stale,
    coalesce(b_step, 0) + (b_id is null or coalesce(b_until <= now, false))::int as step_no
  from held h
  left join lateral (
    select id as b_id, ctid as b_tid, tableoid as b_part, opened_at as b_opened_at, until as b_until, policy as b_policy, step as b_step, generation as b_generation, evidence_at as b_evidence_at
    from recoup.blocks b
    where b.closed_at is null and b.subject_type = h.on_type and b.subject_id = h.subject_id and b.scope = h.scope and b.kind = h.kind
      and b.source = h.source and h.kind is not null and not h.success
    for no key update ${lock}) b on true),
refuted as materialized (
  select h.ord, h.now, b.*, b.policy <> 'manual' and (b.until > h.began or b.trials = 8) as closes,
    (select x.ctid from recoup.blocks x where x.id = b_id) is distinct from b.tid as stale
  from held h
  cross join lateral ${subjectsOf('h', 'upstream_id')}
  cross join lateral (
    select id as b_id, ctid as tid, tableoid as part, policy, until, trials from recoup.blocks b
    where b.subject_type = subject.type and b.subject_id = subject.id and ${refutes('h')}
    for no key update ${lock}) b
  where h.success and h.has_upstream and h.nth = 1 and not h.reported),
seen as materialized (
  select j.*, ${NEXT_UNTIL} as next_until,
    case when has_upstream is null then case when (select true from recoup.upstreams u where u.id = j.upstream_id) then 'busy' else 'no_upstream' end
      when lease_held then 'busy'
      when nth > 1 or (fails and nth_of_block > 1) or moved then 'again'
      when fails and b_id is null and (select true from recoup.blocks b where b.closed_at is null and b.subject_type = j.on_type
        and b.subject_id = j.subject_id and b.scope = j.scope and b.kind = j.kind and b.source = j.source) then 'busy'
      when success and not reported and (select count(*) from ${blocksAround('j', refutes('j'))}) > (select count(*) from refuted r where r.ord = j.ord) then 'busy'
      when exists (select from refuted r where r.ord = j.ord and (r.stale or exists (select from refuted e where e.b_id = r.b_id and e.ord < j.ord)
        or exists (select from judged f where f.fails and f.nth = 1 and f.nth_of_block = 1 and f.b_id = r.b_id))) then 'again'
      when reported then 'duplicate'
      when not fails and not exists (select from refuted r where r.ord = j.ord) then 'noted'
      when began <= b_opened_at or (fails and kind in ${OF_CREDENTIAL} and (began <= credential_at or old_credential)) then 'duplicate'
      when stale then 'again'
      when not fails then 'noted'
      when b_id is null and kind <> 'operator' and ${ENDED_SINCE} then 'duplicate'
      when b_id is null then 'blocked'
      when b_until <= now then 'reopened'
      when ${NEXT_UNTIL} is distinct from b_until then 'extended'
      else 'duplicate' end as verdict
  from judged j),
opened as (
  insert into recoup.blocks (subject_type, subject_id, scope, kind, source, policy, opened_at, evidence_at, until, reason, next_step, gate_ms, next_check_at, told_by)
  select on_type, subject_id, scope, kind, source, policy, now, began, next_until, reason, next_step, p.grace_ms, ${firstCheck('source', 'policy', 'now')}, upstream_id
  from seen s left join ${proberOf('s.pool')} on true where verdict = 'blocked'
  on conflict (subject_type, subject_id, scope, kind, source) where closed_at is null do nothing
  returning id, subject_type, subject_id, scope, kind, source, until, step, generation, evidence_at, gate_ms),
changed as (
  update recoup.blocks b set until = s.next_until, step = s.step_no, trials = 1, generation = b.generation + 1,
    evidence_at = greatest(b.evidence_at, s.began), reason = coalesce(s.reason, b.reason), next_step = coalesce(s.next_step, b.next_step),
    policy = case when s.next_until is null then 'manual' else b.policy end
  from seen s where b.ctid = s.b_tid and b.tableoid = s.b_part and s.verdict in ('extended', 'reopened')
  returning s.ord, b.id, b.until, b.step, b.generation, b.evidence_at, b.policy, b.gate_ms),
freed as (
  update recoup.blocks b set trials = case when r.closes or r.policy = 'manual' then b.trials else b.trials * 2 end,
    generation = b.generation + (r.policy <> 'manual')::int, contradicted_at = case when r.policy = 'manual' then r.now end,
    closed_at = case when r.closes then r.now end, closed_as = case when r.closes then 'success' end
  from refuted r join seen s using (ord) where b.ctid = r.tid and b.tableoid = r.part and s.verdict = 'noted'
  returning r.ord, b.id, b.until, b.step, b.generation, b.evidence_at, b.closed_at, b.policy),
told as (
  insert into recoup.block_events (block_id, generation, type, at, until, step, evidence_at, actor, reason)
  select o.id, o.generation, 'opened', s.now, o.until, o.step, o.evidence_at, s.actor, s.reason
  from opened o join seen s on s.verdict = 'blocked' and (s.on_type, s.subject_id, s.scope, s.kind, s.source) = (o.subject_type, o.subject_id, o.scope, o.kind, o.source)
  union all
  select c.id, c.generation, s.verdict, s.now, c.until, c.step, c.evidence_at, s.actor, s.reason from changed c join seen s using (ord)
  union all
  select f.id, f.generation, case when f.closed_at is null then 'trial' else 'closed' end, s.now, f.until, f.step, f.evidence_at, s.actor, s.reason
  from freed f join seen s using (ord) where f.policy <> 'manual'),
own as (
  -- The latest end of its own blocks of everything, as this statement leaves them.
  select s.ord, s.tid, s.part, max(coalesce(x.until, 'infinity')) filter (where x.until is not null or x.there) as next_blocked_until
  from seen s
  left join lateral (
    select b.until, true as there from recoup.blocks b
    where b.subject_type = 'upstream' and b.subject_id = s.upstream_id and b.scope = '' and b.closed_at is null
      and b.id not in (select c.id from changed c union all select f.id from freed f where f.closed_at is not null)
    union all select c.until, true from changed c where c.ord = s.ord and s.on_type = 'upstream' and s.scope = ''
    union all select o.until, true from opened o where o.subject_type = 'upstream' and o.subject_id = s.upstream_id and o.scope = '') x on true
  where s.verdict in ('blocked', 'extended', 'reopened') or (s.verdict = 'noted' and exists (select from freed f where f.ord = s.ord))
  group by s.ord, s.tid, s.part),
won as (
  update recoup.upstreams u set blocked_until = o.next_blocked_until, generation = u.generation + 1
  from own o where u.ctid = o.tid and u.tableoid = o.part
  returning o.ord),
done as materialized (
  select s.*, coalesce(o.id, c.id, b_id) as block, case when c.id is null then coalesce(o.until, b_until) else c.until end as block_until,
    coalesce(o.gate_ms, c.gate_ms) is not null as gated,
    (select count(*) from freed f where f.ord = s.ord and f.closed_at is not null) as closed,
    (select json_agg(json_build_array(r.policy, r.outcome)) from (
      select f.policy, case when f.closed_at is null then 'waiting' else 'success' end as outcome from freed f where f.ord = s.ord
      union all select c.policy, 'error' from changed c where c.ord = s.ord and s.verdict = 'reopened') r) as recoveries,
    case when verdict = 'blocked' and o.id is null then 'again' when verdict in ('extended', 'reopened') and c.id is null then 'again'
      else verdict end as outcome
  from seen s
  left join opened o on s.verdict = 'blocked' and (s.on_type, s.subject_id, s.scope, s.kind, s.source) = (o.subject_type, o.subject_id, o.scope, o.kind, o.source)
  left join changed c on c.ord = s.ord),
answered as (
  select ord, outcome, block, block_until, case outcome when 'duplicate' then b_step else step_no end as step_no, closed, recoveries, provider, quota_group, route, began, gated from done
  union all select ord, 'noted', null, null, null, 0, null, provider, quota_group, route, began, false from plain),
over as materialized (
  select lease_id, upstream_id from done where outcome not in ('busy', 'again') union all select lease_id, upstream_id from plain),
given as (
  -- By an array, so that a plan from before there were any does not read them all.
  delete from recoup.upstream_leases l
  where l.id = any (array(select lease_id from over)) and exists (select from over d where d.lease_id = l.id and d.upstream_id = l.upstream_id))${answerEach(
    'answered',
    'outcome',
    {
      block: 'block',
      until: 'block_until',
      step: 'step_no',
      closed: 'closed',
      recoveries: 'recoveries',
      provider: 'provider',
      way: `case when route is not null then json_build_object('group', quota_group, 'route', route) end`,
      began: 'began',
      gated: 'gated',
    },
  )}`,
  { holds: 'upstream_id' },
);
