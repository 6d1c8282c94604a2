// probe.answer: what a prober found ends a block, opens it again for longer, or leaves it to the rule of its policy.

import type { RawAnswer } from '../db/runner.ts';
import { type Columns, statement } from '../db/statement.ts';
import { early } from '../upstreams/gates.ts';
import { blockedUntil } from '../upstreams/usable.ts';
import { laterBy } from './rules.ts';

const columns = {
  probe_id: 'bigint',
  result: 'text',
  hint_ms: 'bigint',
  latency_ms: 'bigint',
  cost: 'jsonb',
  reason: 'text',
} as const satisfies Columns;

export interface AnsweredRow extends RawAnswer {
  policy: string;
  /** Whether its upstreams may be used now, as far as this block goes. */
  freed: boolean;
}

/**
 * Guard: the probe has no answer yet, its lease is not over (`lapsed`), and the block is open and as it was when it was claimed (`superseded`).
 *
 * A yes ends what time or a person ends: `snapshot` closes as probe, `manual` by who asked, or for the credential that came since. The others are
 * half open from now on, as if their time were up: a probe asks less than a use does, so one trial comes first. A no at its time opens the
 * block again, one step higher, for longer than before; before its time the block stays, and an announced reset ends when the provider says
 * now; that it was asked is evidence either way. Where it could not be told, what is due lets a trial in, and everything else stays.
 *
 * The upstream is held first, as everywhere, then the block, then the probe.
 */
export const answerProbe = statement<typeof columns, AnsweredRow>(
  'probe.answer',
  columns,
  () => `
found as materialized (
  select i.*, p.block_id, p.started_at, p.generation as p_generation, p.asked_by, p.pool, b.subject_type, b.subject_id
  from input i
  left join lateral (select * from recoup.probes where id = i.probe_id) p on true
  left join lateral (select subject_type, subject_id from recoup.blocks where id = p.block_id) b on true),
held as materialized (
  select f.*, u.*, (select ctid from recoup.upstreams x where x.id = f.subject_id) is distinct from u.u_tid as moved
  from found f
  left join lateral (
    select ctid as u_tid, tableoid as u_part from recoup.upstreams where f.subject_type = 'upstream' and id = f.subject_id for no key update) u on true),
locked as materialized (
  select h.*, b.*, recoup.clock() as now
  from held h
  left join lateral (
    select ctid as b_tid, tableoid as b_part, generation, scope, source, policy, until, step, evidence_at, closed_at, gate_ms
    from recoup.blocks where id = h.block_id for no key update) b on true),
seen as materialized (
  select l.*, p.*, coalesce(until <= now, false) as due, (select every_ms from recoup.probers x where x.pool = l.pool) as every_ms, case
    when l.block_id is null or p.p_tid is null then 'no_probe'
    when p.outcome = 'lapsed' and p.p_result is null then 'lapsed'
    when p.outcome is not null then 'duplicate'
    when subject_type = 'upstream' and moved then 'again'
    when p.lease_until <= now then 'lapsed'
    when closed_at is not null or b_tid is null or generation <> p_generation then 'superseded'
    else case result when 'yes' then 'confirmed' when 'no' then 'denied' else 'unavailable' end end as verdict
  from locked l
  left join lateral (
    select ctid as p_tid, tableoid as p_part, outcome, result as p_result, lease_until from recoup.probes where id = l.probe_id for no key update) p on true),
next as materialized (
  select s.*, verdict = 'confirmed' and policy in ('snapshot', 'manual') as closes,
    case when verdict = 'confirmed' and policy not in ('snapshot', 'manual') then least(until, now)
      when verdict = 'denied' and due then now + ${laterBy('hint_ms', 'source', '(step + 1)')}
      when verdict = 'denied' and source = 'reset_announced' and policy <> 'manual' and hint_ms is not null then now + hint_ms * interval '1 millisecond'
      else until end as next_until
  from seen s),
changed as (
  update recoup.blocks b set
    closed_at = case when n.closes then n.now end,
    closed_as = case when n.closes then case when n.policy = 'snapshot' then 'probe' when n.asked_by is null then 'credential' else 'operator' end end,
    until = n.next_until, generation = b.generation + (n.verdict <> 'unavailable')::int,
    step = b.step + (n.verdict = 'denied' and n.due)::int, trials = case when n.verdict = 'denied' and n.due then 1 else b.trials end,
    evidence_at = case when n.verdict = 'denied' then greatest(b.evidence_at, n.started_at) else b.evidence_at end,
    ungated_at = case when n.verdict = 'confirmed' or (n.verdict = 'unavailable' and n.due) then n.now else b.ungated_at end,
    next_check_at = case when ${early('n.source', 'n.policy')} and not n.closes then n.now + n.every_ms * interval '1 millisecond' end,
    asked_at = null, asked_by = null
  from next n where b.ctid = n.b_tid and b.tableoid = n.b_part and n.verdict in ('confirmed', 'denied', 'unavailable')
  returning b.*),
told as (
  insert into recoup.block_events (block_id, generation, type, at, until, step, evidence_at, actor, reason)
  select c.id, c.generation, case when n.closes then 'closed' when n.verdict = 'confirmed' then 'trial' when n.due then 'reopened'
      when n.next_until is distinct from n.until then 'extended' else 'probed' end,
    n.now, c.until, c.step, c.evidence_at, coalesce(n.asked_by, 'probe'), 'probe ' || n.probe_id || ': ' || n.result || coalesce(', ' || n.reason, '')
  from changed c cross join next n where n.verdict <> 'unavailable'),
freed as (
  update recoup.upstreams u set generation = u.generation + 1,
    blocked_until = case when n.scope = '' then greatest(${blockedUntil('u', 'n.block_id')}, case when not n.closes then coalesce(n.next_until, 'infinity') end)
      else u.blocked_until end
  from next n where u.ctid = n.u_tid and u.tableoid = n.u_part and n.verdict in ('confirmed', 'denied')
  returning u.id),
ended as (
  update recoup.probes p set ended_at = coalesce(p.ended_at, greatest(n.now, p.started_at)), outcome = n.verdict, result = n.result, latency_ms = n.latency_ms,
    cost = coalesce(n.cost, '{}'), reason = n.reason
  from next n where p.ctid = n.p_tid and p.tableoid = n.p_part and n.verdict in ('confirmed', 'denied', 'unavailable', 'superseded', 'lapsed')
  returning p.id)
select json_build_array(json_build_object('ord', 1, 'outcome',
  case when verdict in ('confirmed', 'denied', 'unavailable') and not exists (select from changed) then 'again'
    when verdict in ('confirmed', 'denied') and u_tid is not null and not exists (select from freed) then 'again' else verdict end,
  'policy', policy, 'freed', verdict = 'confirmed' or (verdict = 'unavailable' and due)))::text as answer
from next`,
  { holds: 'probe_id' },
);
