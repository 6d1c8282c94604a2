// provider.block: trouble that many upstreams of a provider have at once is the provider's: one block instead of theirs.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { proberOf } from './gates.ts';
import { nominal } from './report.ts';
import { blockedUntil } from './usable.ts';

export interface ProviderRow extends RawAnswer {
  block: number | null;
  until: string | null;
  step: number | null;
}

const columns = { provider: 'text' } as const;

/**
 * Said after a failure with `server_error` of one of its upstreams. Guard: no such block is open on the provider, and at least three of its
 * upstreams, and half of those used within the last minute, have one of their own that opened within that minute (`blocked`). Where the
 * provider's is open, and due, and the failure was a trial of it, it opens again (`reopened`). In both cases, and for whoever comes
 * late (`superseded`), the upstreams' own end: they are not each to blame. One that needs a person stays, and so does an order to wait.
 *
 * Any replica may say it at any time: it looks at blocks, not at who asks. Half is told without counting all that are in use: more others
 * than have failed are too many. An upstream that somebody holds keeps its own block; who holds it is about to say the same, or uses it.
 */
export const blockProvider = statement<typeof columns, ProviderRow>(
  'provider.block',
  columns,
  () => `
own as materialized (
  select i.provider, b.*, recoup.clock() as now
  from input i
  cross join lateral (
    select b.id, b.subject_id, b.source, b.evidence_at, u.ctid as tid, u.pool from recoup.blocks b join recoup.upstreams u on u.id = b.subject_id
    where b.closed_at is null and b.kind = 'server_error' and b.subject_type = 'upstream' and b.scope = '' and b.policy <> 'manual'
      and b.opened_at > recoup.clock() - interval '1 minute' and u.provider = i.provider) b),
standing as materialized (
  select b.* from input i
  cross join lateral (
    select ctid as tid, tableoid as part, id, until, step from recoup.blocks b
    where b.closed_at is null and b.subject_type = 'provider' and b.subject_id = i.provider and b.scope = '' and b.kind = 'server_error'
      and b.source = 'backoff' for no key update) b),
counted as materialized (
  select i.provider, c.*, (
    select count(*) from (
      select from recoup.upstreams u
      where u.provider = i.provider and u.used_at > recoup.clock() - interval '1 minute' and u.id not in (select subject_id from own)
      limit c.failing + 1) u) as others
  from input i cross join (select count(distinct subject_id) as failing from own) c),
seen as materialized (
  select c.*, s.*, recoup.clock() as now, case
    when s.id is null and exists (select from recoup.blocks b where b.closed_at is null and b.subject_type = 'provider'
      and b.subject_id = c.provider and b.scope = '' and b.kind = 'server_error' and b.source = 'backoff') then 'again'
    when failing = 0 then 'none'
    when s.until <= recoup.clock() and exists (select from own where evidence_at >= s.until) then 'reopened'
    when s.id is not null then 'superseded'
    when failing >= 3 and others <= failing then 'blocked'
    else 'none' end as verdict
  from counted c left join standing s on true),
opened as (
  insert into recoup.blocks (subject_type, subject_id, scope, kind, source, policy, opened_at, evidence_at, until, reason, gate_ms, told_by)
  select 'provider', provider, '', 'server_error', 'backoff', 'auto', now, (select max(evidence_at) from own), now + ${nominal('1')},
    failing || ' upstreams failed within a minute', g.grace_ms, g.subject_id
  from seen left join lateral (
    select p.grace_ms, o.subject_id from own o left join ${proberOf('o.pool')} on true order by p.grace_ms desc nulls last, o.subject_id limit 1) g on true
  where verdict = 'blocked'
  on conflict (subject_type, subject_id, scope, kind, source) where closed_at is null do nothing
  returning id, generation, 'opened' as type, until, step, evidence_at, reason),
reopened as (
  update recoup.blocks b set until = s.now + ${nominal('(b.step + 1)')}, step = b.step + 1, trials = 1, generation = b.generation + 1,
    evidence_at = greatest(b.evidence_at, (select max(evidence_at) from own))
  from seen s where b.ctid = s.tid and b.tableoid = s.part and s.verdict = 'reopened'
  returning b.id, b.generation, 'reopened' as type, b.until, b.step, b.evidence_at, b.reason),
on_provider as materialized (
  select * from opened union all select * from reopened
  union all select id, null, null, until, step, null, null from seen where verdict = 'superseded'),
held as materialized (
  select o.id as block_id, u.* from own o
  cross join lateral (
    select ctid as tid, tableoid as part, id from recoup.upstreams u
    where u.id = o.subject_id and u.ctid = o.tid for no key update skip locked) u
  where o.source <> 'retry_after' and exists (select from on_provider)),
closed as (
  update recoup.blocks b set closed_at = recoup.clock(), closed_as = 'superseded', generation = b.generation + 1
  from held h where b.id = h.block_id and b.closed_at is null
  returning b.*),
told as (
  insert into recoup.block_events (block_id, generation, type, at, until, step, evidence_at, reason)
  select id, generation, type, recoup.clock(), until, step, evidence_at, reason from on_provider where type is not null
  union all
  select c.id, c.generation, 'closed', c.closed_at, c.until, c.step, c.evidence_at, 'superseded' from closed c),
freed as (
  update recoup.upstreams u set generation = u.generation + 1, blocked_until = ${blockedUntil('u', 'select id from closed')}
  from (select distinct tid, part from held) h where u.ctid = h.tid and u.tableoid = h.part)
select json_build_array(json_build_object('ord', 1, 'outcome',
  case when verdict in ('blocked', 'reopened') and p.id is null then 'again' else verdict end,
  'block', p.id, 'until', p.until, 'step', p.step))::text as answer
from seen left join on_provider p on true`,
  { holds: 'provider' },
);
