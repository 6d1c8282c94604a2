// upstream.register and upstream.change: an upstream comes to be, and what an operator says of it changes.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';

const columns = {
  upstream_id: 'text',
  pool: 'text',
  provider: 'text',
  quota_group: 'text',
  route: 'text',
  credential_ref: 'text',
  priority: 'smallint',
  weight: 'int',
  max_concurrency: 'int',
  // What may be none: a null of the input says nothing.
  no_group: 'boolean',
  no_max: 'boolean',
  status: 'text',
  actor: 'text',
  reason: 'text',
} as const;

/** What is set of an upstream row `u`, as its events keep it. */
export const settingsOf = (u: string) => `jsonb_build_object('quotaGroup', ${u}.quota_group, 'route', ${u}.route,
    'credentialRef', ${u}.credential_ref, 'priority', ${u}.priority, 'weight', ${u}.weight, 'maxConcurrency', ${u}.max_concurrency,
    'status', ${u}.status)`;

/**
 * Guard: none of that id; else what is given is changed (`changed`), or is so already (`duplicate`). Pool and provider never change:
 * its blocks, windows and history are about that account. A retired one comes back only under another id. Each that says something new is an event.
 */
export const registerUpstream = statement<typeof columns, RawAnswer>(
  'upstream.register',
  columns,
  (lock) => `
held as materialized (
  select i.*, u.*, case when no_group then null else coalesce(quota_group, old_group) end as next_group,
    case when no_max then null else coalesce(max_concurrency, old_max) end as next_max, row_number() over (partition by i.upstream_id order by i.ord) as twin,
    (select true from recoup.upstreams u where u.id = i.upstream_id) as there
  from (select * from input order by upstream_id, ord) i
  left join lateral (
    select ctid as tid, tableoid as part, id as old_id, pool as old_pool, provider as old_provider, quota_group as old_group, route as old_route,
      credential_ref as old_ref, priority as old_priority, weight as old_weight, max_concurrency as old_max, status as old_status
    from recoup.upstreams where id = i.upstream_id for no key update ${lock}) u on true),
seen as materialized (
  select h.*, case
    when old_id is null and there then 'busy'
    when twin > 1 then 'again'
    when old_id is null and (pool is null or provider is null) then 'no_upstream'
    when old_id is null then 'registered'
    when old_status = 'retired' and coalesce(status, 'retired') <> 'retired' then 'retired'
    when pool <> old_pool or provider <> old_provider then 'conflict'
    when (next_group, coalesce(route, old_route), coalesce(credential_ref, old_ref), coalesce(priority, old_priority),
          coalesce(weight, old_weight), next_max, coalesce(status, old_status))
      is distinct from (old_group, old_route, old_ref, old_priority, old_weight, old_max, old_status) then 'changed'
    else 'duplicate' end as verdict
  from held h),
made as (
  insert into recoup.upstreams (id, pool, provider, quota_group, route, credential_ref, priority, weight, max_concurrency, status, turn_at, registered_at, events)
  select upstream_id, pool, provider, quota_group, coalesce(route, 'direct'), credential_ref, coalesce(priority, 5), coalesce(weight, 1),
    max_concurrency, coalesce(status, 'on'), recoup.clock(), recoup.clock(), 1 from seen where verdict = 'registered'
  on conflict (id) do nothing
  returning id, events, ${settingsOf('upstreams')} as settings),
won as (
  update recoup.upstreams u set quota_group = s.next_group, route = coalesce(s.route, u.route),
    credential_ref = coalesce(s.credential_ref, u.credential_ref), priority = coalesce(s.priority, u.priority),
    weight = coalesce(s.weight, u.weight), max_concurrency = s.next_max, status = coalesce(s.status, u.status),
    generation = u.generation + 1, events = u.events + 1
  from seen s where u.ctid = s.tid and u.tableoid = s.part and s.verdict = 'changed'
  returning s.ord, u.id, u.events, ${settingsOf('u')} as settings),
told as (
  insert into recoup.upstream_events (upstream_id, number, type, at, settings, actor, reason)
  select m.id, m.events, 'registered', recoup.clock(), m.settings, s.actor, s.reason
  from made m join seen s on s.upstream_id = m.id and s.verdict = 'registered'
  union all
  select w.id, w.events, 'changed', recoup.clock(), w.settings, s.actor, s.reason from won w join seen s using (ord))${answerEach(
    'seen s',
    `case when verdict = 'registered' and not exists (select from made m where m.id = s.upstream_id) then 'again'
         when verdict = 'changed' and not exists (select from won w where w.ord = s.ord) then 'again' else verdict end`,
    {},
  )}`,
  { holds: 'upstream_id' },
);
