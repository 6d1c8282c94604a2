// Reads of upstreams: why each may or may not be used, what blocks it, when it is expected back, and its history.

import { statement } from '../db/statement.ts';
import { gatedUntil } from './gates.ts';
import { blocksOn, isManual, quotasOn, scopesOf, slotsOut, subjectsOf } from './usable.ts';

/** One reason why an upstream is not used now. */
export interface Check {
  /** `gated`: its time is up, and a probe is to answer first, until then at most. */
  check: 'off' | 'draining' | 'retired' | 'blocked' | 'gated' | 'trial' | 'quota' | 'slots';
  block: number | null;
  kind: string | null;
  source: string | null;
  policy: string | null;
  subject: string | null;
  scope: string | null;
  until: string | null;
  /** Of a block: how many events it has, so that a later estimate is told from an earlier one. */
  revision: number | null;
  reason: string | null;
  nextStep: string | null;
  /** Of `quota`: the limit that is used up, its unit, what is used and what may be. */
  limit: string | null;
  unit: string | null;
  used: number | null;
  amount: number | null;
}

export interface ExplainedRow {
  upstream: string;
  pool: string;
  provider: string;
  quotaGroup: string | null;
  route: string;
  credentialRef: string | null;
  status: 'on' | 'off' | 'draining' | 'retired';
  priority: number;
  weight: number;
  maxConcurrency: number | null;
  /** Slots in somebody's hands now. */
  slotsOut: number;
  /** Its provider says that little is left until then: it comes after the others of its priority. Null: it does not. */
  tightUntil: string | null;
  lastUsedAt: string | null;
  registeredAt: string;
  now: string;
  checks: Omit<Check, 'limit' | 'unit' | 'used' | 'amount'>[];
  quotas: Pick<Check, 'subject' | 'scope' | 'until' | 'limit' | 'unit' | 'used' | 'amount'>[];
}

/** What is looked at of an upstream `u` beside its row: the slots that are out, and every check that fails in these scopes. */
export const lookedAt = (u: string, scopes: string) => `${slotsOut(u)} as slots_out, coalesce((
    select json_agg(json_build_object('check', c."check", 'block', c.id, 'kind', c.kind, 'source', c.source, 'policy', c.policy,
      'subject', c.subject_type || ':' || c.subject_id, 'scope', c.scope, 'until', case c."check" when 'gated' then ${gatedUntil('c')} else c.until end, 'revision', c.generation, 'reason', c.reason, 'nextStep', c.next_step) order by c.until desc nulls first)
    from (${blocksOn(u, scopes)}) c where c."check" is not null), '[]') as checks, coalesce((
    select json_agg(json_build_object('limit', q.id, 'subject', q.subject_type || ':' || q.subject_id, 'scope', q.scope, 'unit', q.unit,
      'used', q.used, 'amount', q.amount, 'until', q.until) order by q.until desc, q.id)
    from (${quotasOn(u, scopes)}) q), '[]') as quotas`;

/** An ExplainedRow of such a row. */
export const explainedRow = `json_build_object('upstream', id, 'pool', pool, 'provider', provider, 'quotaGroup', quota_group, 'route', route,
  'credentialRef', credential_ref, 'status', status, 'priority', priority, 'weight', weight, 'maxConcurrency', max_concurrency,
  'slotsOut', slots_out, 'tightUntil', case when tight_until > recoup.clock() then tight_until end, 'lastUsedAt', used_at, 'registeredAt', registered_at, 'now', recoup.clock(), 'checks', checks, 'quotas', quotas)`;

const explainColumns = {
  pool: 'text',
  upstream_id: 'text',
  model: 'text',
  capability: 'text',
  nearest: 'int',
  count: 'int',
} as const;

/** So many times as many as are asked for are looked at of each range for when they are back. */
const LOOKED_AT = 5;

/** Of who comes back by time, what keeps it out longest of its blocks and limits in the scopes asked for. */
const backAt = (u: string) => `(
    select greatest(recoup.clock(), (
      select max(coalesce(b.until, 'infinity')) from ${subjectsOf(u)}
      cross join lateral (
        select * from recoup.blocks b
        where b.subject_type = subject.type and b.subject_id = subject.id and b.closed_at is null and b.scope = any (${scopesOf('i')}) offset 0) b), (
      select max(q.until) from (${quotasOn(u, scopesOf('i'))}) q)) as back)`;

/** The first of a range that no person has to free first: not what it shares (`manual`), nor it itself for what is asked. */
const first = (which: string, order: string) => `
      (select * from recoup.upstreams u where u.pool = i.pool and u.priority = p and u.status = 'on' and ${which}
         and (i.ord, coalesce(u.quota_group, '')) not in (select ord, id from manual where type = 'quota_group')
         and (i.ord, u.provider) not in (select ord, id from manual where type = 'provider')
         and (i.ord, u.route) not in (select ord, id from manual where type = 'route')
         and (coalesce(i.model, i.capability) is null or not exists (
           select from recoup.blocks b where b.subject_type = 'upstream' and b.subject_id = u.id and b.closed_at is null and ${isManual('b')}
             and b.scope = any (${scopesOf('i')}) offset 0))
       order by ${order} limit i.nearest * ${LOOKED_AT})`;

const UNBLOCKED = 'u.blocked_until is null and u.quota_until';
const RANGES: readonly [which: string, order: string][] = [
  [`${UNBLOCKED} is null and u.tight_until is null`, 'u.turn_at'],
  [`${UNBLOCKED} is null and u.tight_until is not null`, 'u.tight_until'],
  [`${UNBLOCKED} is not null and u.quota_until <= recoup.clock()`, 'u.quota_until desc'],
  [`${UNBLOCKED} is not null and u.quota_until > recoup.clock()`, 'u.quota_until'],
  ['u.blocked_until is not null and u.blocked_until <= recoup.clock()', 'u.blocked_until desc'],
  [
    `u.blocked_until is not null and u.blocked_until > recoup.clock() and u.blocked_until < 'infinity'`,
    'u.blocked_until',
  ],
];

/**
 * Every failing check of every upstream of a pool (or of one), in the order in which they would be picked. With `nearest` only of so
 * many that are back first for what is asked, of the first of each range and priority, without those that a person has to free: who asks
 * when to come back need not read a pool of thousands. With `count` only the first so many of the pool.
 */
export const explainUpstreams = statement<typeof explainColumns, ExplainedRow>(
  'upstream.explain',
  explainColumns,
  () => `
manual as materialized (
  select i.ord, b.subject_type as type, b.subject_id as id from input i
  cross join (values ('quota_group'), ('provider'), ('route')) shared (type)
  cross join lateral (
    select * from recoup.blocks b
    where b.subject_type = shared.type and b.closed_at is null and ${isManual('b')} and b.scope = any (${scopesOf('i')}) offset 0) b
  where i.nearest is not null),
found as materialized (
  select u.*, ${lookedAt('u', scopesOf('i'))}
  from input i
  cross join lateral (
    select * from recoup.upstreams u where u.id = i.upstream_id and (u.pool = i.pool or i.pool is null)
    union all
    (select * from recoup.upstreams u where u.pool = i.pool and i.upstream_id is null and i.nearest is null
     order by u.priority, u.turn_at, u.id limit i.count)
    union all
    (select u.* from recoup.upstreams u where u.id = any (array(
       select u.id from generate_series(0, 9) p
       cross join lateral (${RANGES.map(([which, order]) => first(which, order)).join('\n      union all')}) u
       cross join lateral ${backAt('u')} x
       where i.nearest is not null
       order by x.back limit i.nearest)))
    union all
    (select * from recoup.upstreams u where i.pool is null and i.upstream_id is null order by u.priority, u.turn_at, u.id limit i.count)) u)
select coalesce(json_agg(${explainedRow} order by priority, turn_at, id), '[]')::text as answer
from found`,
);

const oneUpstream = { upstream_id: 'text' } as const;

const historyColumns = {
  upstream_id: 'text',
  after_at: 'timestamptz',
  after_block: 'bigint',
  after_generation: 'int',
  newest_first: 'boolean',
  count: 'int',
} as const;

/** Of a block, or of the upstream itself: then `block` and what belongs to one are null, and `settings` is what was set from then on. */
export interface HistoryRow {
  /** Null: an event of the upstream itself. */
  block: number | null;
  /** Which of the events of its block, or of the upstream; 0 of a `contradicted`. */
  generation: number;
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
 * What happened to an upstream: what was set of it, and its own blocks and those of its group, provider and route: the blocks that are open
 * and the newest thousand of each that are not. A `contradicted` is no event of a block, which stays as it is: it says when something spoke
 * against it. Oldest first, or newest first; `count` of them behind an event, or all.
 */
export const upstreamHistory = statement<typeof historyColumns, HistoryRow>(
  'upstream.history',
  historyColumns,
  () => `
blocks as materialized (
  select b.* from input i
  cross join lateral (select * from recoup.upstreams where id = i.upstream_id) u
  cross join lateral ${subjectsOf('u')}
  cross join lateral (
    select * from recoup.blocks b where b.subject_type = subject.type and b.subject_id = subject.id and b.closed_at is null
    union all
    (select * from recoup.blocks b where b.subject_type = subject.type and b.subject_id = subject.id and b.closed_at is not null order by b.closed_at desc limit 1000)) b),
found as materialized (
  select b.*, e.type, e.at, e.until as e_until, e.step as e_step, e.evidence_at as e_evidence_at, e.actor, e.reason as e_reason, e.generation as nth, null::jsonb as settings
  from blocks b join recoup.block_events e on e.block_id = b.id
  union all
  select b.*, 'contradicted', b.contradicted_at, null, null, null, null, null, 0, null from blocks b where b.contradicted_at is not null
  union all
  select b.*, e.type, e.at, null, null, null, e.actor, e.reason, e.number, e.settings
  from input i join recoup.upstream_events e on e.upstream_id = i.upstream_id left join recoup.blocks b on false),
ordered as materialized (
  select f.*, coalesce(f.id, 0) as of_block, coalesce(f.subject_type || ':' || f.subject_id, 'upstream:' || i.upstream_id) as subject from found f cross join input i),
page as (
  (select f.* from input i cross join ordered f
   where i.newest_first is not true and (i.after_at is null or (f.at, f.of_block, f.nth) > (i.after_at, i.after_block, i.after_generation))
   order by f.at, f.of_block, f.nth limit (select count from input))
  union all
  (select f.* from input i cross join ordered f
   where i.newest_first and (i.after_at is null or (f.at, f.of_block, f.nth) < (i.after_at, i.after_block, i.after_generation))
   order by f.at desc, f.of_block desc, f.nth desc limit (select count from input)))
select coalesce(json_agg(json_build_object('block', id, 'generation', nth, 'subject', subject, 'scope', coalesce(scope, ''), 'kind', kind, 'source', source,
  'policy', policy, 'type', type, 'at', at, 'until', e_until, 'step', e_step, 'evidenceAt', e_evidence_at, 'closedAs', case when type = 'closed' then closed_as end,
  'actor', actor, 'reason', e_reason, 'settings', settings) order by at, of_block, nth), '[]')::text as answer
from page`,
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
