// snapshot.note: what a provider says of its own windows. The newest of each is kept; what it speaks against ends, or is marked.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { same } from './report.ts';

export interface NotedRow extends RawAnswer {
  closed: number;
}

/** One window as it goes to the database: its reset as a distance from when it was observed. */
export interface WindowRow {
  name: string;
  scope: string;
  kind: string;
  length_ms: number | null;
  used: number | null;
  reset_ms: number | null;
  exhausted: boolean;
}

const columns = {
  upstream_id: 'text',
  started_at: 'timestamptz',
  elapsed_ms: 'bigint',
  age_ms: 'bigint',
  subject_type: 'text',
  way: 'jsonb',
  windows: 'jsonb',
  speaks: 'boolean',
  actor: 'text',
} as const;

/** Of an observation `f`, which open blocks `b` of its subject it may speak about: those of a scope of which it has windows. */
const concerns = (f: string) => `b.closed_at is null and b.evidence_at < ${f}.began
      and exists (select from windows w where w.ord = ${f}.ord and w.scope = b.scope)
      and case b.policy when 'snapshot' then b.source <> 'retry_after' or b.until <= ${f}.now
        when 'manual' then b.kind <> 'operator' and b.contradicted_at is null else false end`;

/** All that is known of the windows of an observation `f` in a scope: its own (`fresh`), and what is stored of the others. */
const known = (f: string, scope: string, type = 'on_type') => `
      select w.name, w.used, w.exhausted, w.resets_at, w.observed, true as fresh from windows w
      left join recoup.snapshots s on s.subject_type = w.on_type and s.subject_id = w.subject_id and s.scope = w.scope and s.name = w.name
      where w.ord = ${f}.ord and w.scope = ${scope} and coalesce(s.observed_at <= w.observed, true)
      union all
      select s.name, s.used, s.exhausted, s.resets_at, s.observed_at, false from recoup.snapshots s
      where s.subject_type = ${f}.${type} and s.subject_id = ${f}.subject_id and s.scope = ${scope} and not exists (
        select from windows w where w.ord = ${f}.ord and w.scope = s.scope and w.name = s.name and w.observed >= s.observed_at)`;

/** From this part on little is left: who has it comes after the others, until its window ends; where nobody says when, for five minutes. */
const TIGHT = 0.9;
const TIGHT_UNTIL = `coalesce(w.resets_at, w.observed + interval '5 minutes')`;

/**
 * Guard of a window: it was not observed before what is stored of it, so that it never goes back in time. Guard of a block: its last
 * evidence is older than the request that observed, and the observation has windows of just its scope. Where of all windows
 * known of that scope none is used up any more, a `snapshot` block closes, and one that only a person ends shows since when something
 * speaks against it; unless
 * the answer itself says the contrary (`speaks`). A window that nobody told a reset of, and that was not told of for a day, is over. Where one still is, the newest announced reset stands. An order to wait is not ended
 * before its time.
 *
 * The upstream's row is held only where there is such a block: most observations change windows and nothing else. They are written in
 * the order of their keys, since upstreams of one group share them. Whether little is left in a window of everything is noted at the
 * upstream when that changes, and nobody waits for it: who holds the row is about to be observed again.
 */
export const noteSnapshot = statement<typeof columns, NotedRow>(
  'snapshot.note',
  columns,
  (lock) => `
found as materialized (
  select i.*, u.*, recoup.clock() as now, recoup.clock() - coalesce(i.age_ms, 0) * interval '1 millisecond' as observed,
    least(coalesce(i.started_at, recoup.clock() - coalesce(i.elapsed_ms, i.age_ms, 0) * interval '1 millisecond'), recoup.clock()) as began,
    case when i.subject_type = 'quota_group' and w.quota_group is not null then 'quota_group' else 'upstream' end as on_type,
    case when i.subject_type = 'quota_group' then coalesce(w.quota_group, i.upstream_id) else i.upstream_id end as subject_id,
    row_number() over (partition by i.upstream_id order by i.ord) as twin
  from input i
  left join lateral (select true as there, quota_group, tight_until from recoup.upstreams where id = i.upstream_id) u on true
  cross join lateral (
    -- As the report has it that this belongs to (see report.ts), else the group of now.
    select case when i.way is null then u.quota_group else i.way->>'group' end collate "C" as quota_group) w),
windows as materialized (
  select distinct on (f.ord, w.scope, w.name) f.ord, f.on_type, f.subject_id, f.now, f.observed, w.name collate "C" as name, w.scope collate "C" as scope,
    w.kind, w.length_ms, w.used, w.exhausted, f.observed + w.reset_ms * interval '1 millisecond' as resets_at
  from found f
  cross join lateral jsonb_to_recordset(f.windows)
    as w(name text, scope text, kind text, length_ms bigint, used double precision, reset_ms bigint, exhausted boolean)
  where f.there and f.twin = 1),
about as materialized (
  select f.ord, b.b_id from found f
  cross join lateral (
    select b.id as b_id from recoup.blocks b where b.subject_type = f.on_type and b.subject_id = f.subject_id and ${concerns('f')} offset 0) b),
held as materialized (
  select f.ord, u.*, (select ctid from recoup.upstreams x where x.id = f.upstream_id) is distinct from u.tid as moved
  from (select * from found where ord in (select ord from about) order by upstream_id, ord) f
  left join lateral (
    select ctid as tid, tableoid as part from recoup.upstreams where id = f.upstream_id for no key update ${lock}) u on true),
locked as materialized (
  select f.ord, f.now, f.began, f.actor, f.speaks, a.b_id, a.u_tid, a.u_part, b.*, a.moved, row_number() over (partition by a.b_id order by f.ord) as nth_of_block,
    (select ctid from recoup.blocks x where x.id = a.b_id) is distinct from b.b_tid as b_moved
  from (select a.ord, a.b_id, h.tid as u_tid, h.part as u_part, h.moved from about a join held h using (ord) order by a.b_id, a.ord) a
  join found f using (ord)
  left join lateral (
    select ctid as b_tid, tableoid as b_part, subject_type, subject_id, scope, policy, source, until
    from recoup.blocks where id = a.b_id and a.u_tid is not null for no key update ${lock}) b on true),
judged as materialized (
  select l.*, w.said, w.estimate, case
    when w.said is null then null
    when l.speaks and not w.spent and w.under then case policy when 'snapshot' then 'closed' else 'contradicted' end
    when policy = 'snapshot' and source = 'reset_announced' and w.estimate > l.now and not (until > l.now and ${same('w.estimate', 'until')})
      then case when until <= l.now then 'reopened' else 'extended' end end as act
  from locked l
  cross join lateral (
    select bool_or(exhausted and coalesce(resets_at > l.now, fresh or observed > l.now - interval '1 day')) as spent, bool_or(fresh and used < 1) as under,
      max(resets_at) filter (where exhausted and resets_at > l.now) as estimate,
      string_agg(case when fresh then name || coalesce(' ' || round((used * 100)::numeric, 1) || ' %', '') end, ', ' order by name) as said
    from (${known('l', 'l.scope', 'subject_type')}) w) w),
seen as materialized (
  select f.*, case
    when there is null then 'no_upstream'
    when twin > 1 then 'again'
    when exists (select from locked l where l.ord = f.ord and (l.u_tid is null or l.b_tid is null)) then 'busy'
    when exists (select from judged j where j.ord = f.ord and (j.b_moved or (j.act is not null and (j.moved or j.nth_of_block > 1)))) then 'again'
    else 'noted' end as verdict
  from found f),
changed as (
  update recoup.blocks b set
    closed_at = case when j.act = 'closed' then j.now end, closed_as = case when j.act = 'closed' then 'snapshot' end,
    contradicted_at = case when j.act = 'contradicted' then greatest(j.now, b.opened_at) end, generation = b.generation + (j.act <> 'contradicted')::int,
    until = case when j.act in ('extended', 'reopened') then j.estimate else b.until end,
    evidence_at = case when j.act in ('extended', 'reopened') then greatest(b.evidence_at, j.began) else b.evidence_at end,
    step = b.step + (j.act = 'reopened')::int, trials = case when j.act = 'reopened' then 1 else b.trials end
  from judged j join seen s using (ord) where b.ctid = j.b_tid and b.tableoid = j.b_part and j.act is not null and s.verdict = 'noted'
  returning j.ord, j.act, j.said, b.*),
told as (
  insert into recoup.block_events (block_id, generation, type, at, until, step, evidence_at, actor, reason)
  select c.id, c.generation, c.act, s.now, c.until, c.step, c.evidence_at, s.actor, c.said from changed c join seen s using (ord) where c.act <> 'contradicted'),
freed as (
  update recoup.upstreams u set generation = u.generation + 1, blocked_until = (
    select max(coalesce(x.until, 'infinity')) from (
      select b.until from recoup.blocks b
      where b.subject_type = 'upstream' and b.subject_id = u.id and b.scope = '' and b.closed_at is null and b.id not in (select id from changed)
      union all
      select c.until from changed c where c.subject_type = 'upstream' and c.subject_id = u.id and c.scope = '' and c.closed_at is null) x)
  from (
    select distinct h.tid, h.part from held h join changed c using (ord)
    where c.act <> 'contradicted' and c.subject_type = 'upstream' and c.scope = '') h
  where u.ctid = h.tid and u.tableoid = h.part),
written as (
  insert into recoup.snapshots (subject_type, subject_id, scope, name, kind, length_ms, used, resets_at, exhausted, observed_at)
  select on_type, subject_id, scope, name, kind, length_ms, used, resets_at, exhausted, observed from (
    select distinct on (w.on_type, w.subject_id, w.scope, w.name) w.* from windows w join seen s using (ord) where s.verdict = 'noted'
    order by w.on_type, w.subject_id, w.scope, w.name, w.observed desc, w.ord desc) w
  on conflict (subject_type, subject_id, scope, name) do update set kind = excluded.kind, length_ms = excluded.length_ms, used = excluded.used,
    resets_at = excluded.resets_at, exhausted = excluded.exhausted, observed_at = excluded.observed_at
  where recoup.snapshots.observed_at < excluded.observed_at or (recoup.snapshots.observed_at = excluded.observed_at
    and (recoup.snapshots.used, recoup.snapshots.resets_at, recoup.snapshots.exhausted) is distinct from (excluded.used, excluded.resets_at, excluded.exhausted))
  returning subject_type, subject_id, scope, name, observed_at),
little as materialized (
  select f.upstream_id, t.until from found f join seen s using (ord)
  cross join lateral (select nullif(greatest(max(${TIGHT_UNTIL}), f.now), f.now) as until from (${known('f', `''`)}) w where w.used >= ${TIGHT}) t
  where s.verdict = 'noted' and f.ord not in (select ord from held)
    and (case when f.tight_until > f.now then abs(extract(epoch from t.until - f.tight_until)) > 10 or t.until is null else t.until is not null end)),
tight as (
  update recoup.upstreams u set tight_until = h.until
  from little l
  cross join lateral (
    select ctid as tid, tableoid as part, l.until from recoup.upstreams where id = l.upstream_id for no key update skip locked) h
  where u.ctid = h.tid and u.tableoid = h.part)${answerEach(
    'seen s',
    `case when verdict = 'noted' and not exists (
      select from windows w join written n on n.subject_type = w.on_type and n.subject_id = w.subject_id and n.scope = w.scope and n.name = w.name
        and n.observed_at = w.observed where w.ord = s.ord)
      and not exists (select from changed c where c.ord = s.ord) then 'duplicate' else verdict end`,
    { closed: `(select count(*) from changed c where c.ord = s.ord and c.act = 'closed')` },
  )}`,
  { holds: 'upstream_id' },
);
