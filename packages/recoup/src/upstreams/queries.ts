// Reads of upstreams: why each may or may not be used, what blocks it, when it is expected back, and its history.

import { statement } from '../db/statement.ts';
import { blocksOn, scopesOf, slotsOut, subjectsOf } from './usable.ts';

/** One reason why an upstream is not used now. */
export interface Check {
  check: 'off' | 'draining' | 'retired' | 'blocked' | 'trial' | 'slots';
  block: number | null;
  kind: string | null;
  source: string | null;
  policy: string | null;
  subject: string | null;
  scope: string | null;
  until: string | null;
  reason: string | null;
  nextStep: string | null;
}

export interface ExplainedRow {
  upstream: string;
  provider: string;
  priority: number;
  slots_out: number;
  max_concurrency: number | null;
  status: 'on' | 'off' | 'draining' | 'retired';
  now: string;
  checks: Check[];
}

const explainColumns = {
  pool: 'text',
  upstream_id: 'text',
  model: 'text',
  capability: 'text',
  nearest: 'int',
} as const;

/**
 * Every failing check of every upstream of a pool (or of one), in the order in which they would be picked. With `nearest` only of so
 * many at each priority that nothing of their own keeps out, and so many whose own block ends first: who asks when to come back
 * need not read a pool of thousands.
 */
export const explainUpstreams = statement<typeof explainColumns, ExplainedRow>(
  'upstream.explain',
  explainColumns,
  () => `
found as materialized (
  select u.*, ${slotsOut('u')} as slots_out, coalesce((
    select json_agg(json_build_object('check', c."check", 'block', c.id, 'kind', c.kind, 'source', c.source, 'policy', c.policy,
      'subject', c.subject_type || ':' || c.subject_id, 'scope', c.scope, 'until', c.until, 'reason', c.reason, 'nextStep', c.next_step) order by c.until desc nulls first)
    from (${blocksOn('u', scopesOf('i'))}) c where c."check" is not null), '[]') as checks
  from input i
  cross join lateral (
    select * from recoup.upstreams u where u.id = i.upstream_id and (u.pool = i.pool or i.pool is null)
    union all
    select * from recoup.upstreams u where u.pool = i.pool and i.upstream_id is null and i.nearest is null
    union all
    select u.* from generate_series(0, 9) p
    cross join lateral (
      (select * from recoup.upstreams u where u.pool = i.pool and u.priority = p and u.status = 'on' and u.blocked_until is null
       order by u.turn_at limit i.nearest)
      union all
      (select * from recoup.upstreams u where u.pool = i.pool and u.priority = p and u.status = 'on' and u.blocked_until is not null
         and u.blocked_until <= recoup.clock() order by u.blocked_until desc limit i.nearest)
      union all
      (select * from recoup.upstreams u where u.pool = i.pool and u.priority = p and u.status = 'on' and u.blocked_until is not null
         and u.blocked_until > recoup.clock() order by u.blocked_until limit i.nearest)) u
    where i.nearest is not null
    union all
    select * from recoup.upstreams u where i.pool is null and i.upstream_id is null) u)
select coalesce(json_agg(json_build_object('upstream', id, 'provider', provider, 'priority', priority, 'slots_out', slots_out, 'status', status,
  'max_concurrency', max_concurrency, 'now', recoup.clock(), 'checks', checks) order by priority, turn_at, id), '[]')::text as answer
from found`,
);

const oneUpstream = { upstream_id: 'text' } as const;

/** Of a block, or of the upstream itself: then `block` and what belongs to one are null, and `settings` is what was set from then on. */
export interface HistoryRow {
  block: number | null;
  subject: string;
  scope: string;
  kind: string | null;
  source: string | null;
  policy: string | null;
  type: string;
  at: string;
  until: string | null;
  step: number | null;
  evidenceAt: string | null;
  closedAs: string | null;
  actor: string | null;
  reason: string | null;
  settings: Record<string, string | number | null> | null;
}

/**
 * What happened to an upstream, oldest first: what was set of it, and its own blocks and those of its group, provider and route. A
 * `contradicted` is no event of a block, which stays as it is: it says when something spoke against it.
 */
export const upstreamHistory = statement<typeof oneUpstream, HistoryRow>(
  'upstream.history',
  oneUpstream,
  () => `
blocks as materialized (
  select b.* from input i
  cross join lateral (select * from recoup.upstreams where id = i.upstream_id) u
  cross join lateral ${subjectsOf('u')}
  cross join lateral (
    select * from recoup.blocks b where b.subject_type = subject.type and b.subject_id = subject.id and b.closed_at is null
    union all
    (select * from recoup.blocks b where b.subject_type = subject.type and b.subject_id = subject.id and b.closed_at is not null order by b.opened_at desc limit 1000)) b),
found as materialized (
  select b.*, e.type, e.at, e.until as e_until, e.step as e_step, e.evidence_at as e_evidence_at, e.actor, e.reason as e_reason, e.generation as nth, null::jsonb as settings
  from blocks b join recoup.block_events e on e.block_id = b.id
  union all
  select b.*, 'contradicted', b.contradicted_at, null, null, null, null, null, null, null from blocks b where b.contradicted_at is not null
  union all
  select b.*, e.type, e.at, null, null, null, e.actor, e.reason, e.number, e.settings
  from input i join recoup.upstream_events e on e.upstream_id = i.upstream_id left join recoup.blocks b on false)
select coalesce(json_agg(json_build_object('block', f.id, 'subject', coalesce(f.subject_type || ':' || f.subject_id, 'upstream:' || i.upstream_id),
  'scope', coalesce(f.scope, ''), 'kind', f.kind, 'source', f.source, 'policy', f.policy, 'type', f.type, 'at', f.at, 'until', f.e_until, 'step', f.e_step,
  'evidenceAt', f.e_evidence_at, 'closedAs', case when f.type = 'closed' then f.closed_as end, 'actor', f.actor, 'reason', f.e_reason,
  'settings', f.settings) order by f.at, f.id nulls first, f.type = 'closed', f.nth), '[]')::text as answer
from found f cross join input i`,
);

/** Whose decoder reads its answers. */
export const providerOf = statement<typeof oneUpstream, { provider: string }>(
  'upstream.provider',
  oneUpstream,
  () => `
found as materialized (
  select u.provider from input i cross join lateral (select provider from recoup.upstreams where id = i.upstream_id) u)
select coalesce(json_agg(json_build_object('provider', provider)), '[]')::text as answer from found`,
);

export interface SnapshotRow {
  subject: string;
  scope: string;
  name: string;
  kind: string;
  lengthMs: number | null;
  used: number | null;
  exhausted: boolean;
  resetsAt: string | null;
  observedAt: string;
}

/** The latest of each window of an upstream and of its group. */
export const snapshotsOf = statement<typeof oneUpstream, SnapshotRow>(
  'upstream.snapshots',
  oneUpstream,
  () => `
found as materialized (
  select s.* from input i
  cross join lateral (select id, quota_group from recoup.upstreams where id = i.upstream_id) u
  cross join lateral (values ('upstream', u.id), ('quota_group', u.quota_group)) subject (type, id)
  cross join lateral (select * from recoup.snapshots s where s.subject_type = subject.type and s.subject_id = subject.id) s)
select coalesce(json_agg(json_build_object('subject', subject_type || ':' || subject_id, 'scope', scope, 'name', name, 'kind', kind, 'lengthMs', length_ms,
  'used', used, 'exhausted', exhausted, 'resetsAt', resets_at, 'observedAt', observed_at) order by subject_type desc, scope, name), '[]')::text as answer
from found`,
);

const unusedColumns = { after_until: 'timestamptz', after_id: 'bigint', count: 'int' } as const;

export interface UnusedRow {
  block_id: number;
  generation: number;
  until: string;
}

/** Blocks that have been half open for a day, by when that began: nobody tries what they are about. */
export const unusedBlocks = statement<typeof unusedColumns, UnusedRow>(
  'block.unused',
  unusedColumns,
  () => `
found as materialized (
  select b.* from input i
  cross join lateral (
    select id, generation, until from recoup.blocks
    where closed_at is null and until is not null and until < recoup.clock() - interval '24 hours'
      and (i.after_until is null or (until, id) > (i.after_until, i.after_id))
    order by until, id limit i.count) b)
select coalesce(json_agg(json_build_object('block_id', id, 'generation', generation, 'until', until) order by until, id), '[]')::text as answer
from found`,
);
