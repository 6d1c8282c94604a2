// The conditions of alerts as SQL: what holds now, read from the tables that say so.
import { usedOf } from '../windows/rules.ts';

export const ALERT_KINDS = ['exhausted', 'near_exhausted', 'snapshot_exhausted', 'idle', 'blocked_long'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** A limit is near its end from nine tenths on; in whole numbers, for they may be large. */
const near = (used: string, amount: string) => `${used}::numeric * 10 >= ${amount}::numeric * 9`;

/**
 * CTE `holds`: kind, subject and facts of every condition that holds at the clock. `i`: the input with idle_ms (null: never) and blocked_ms. What
 * was used since the window began is never less than what is used now: few limits need the closer look.
 */
export const holdsNow = `
spent as materialized (
  select l.id, l.subject_type || ':' || l.subject_id as of, l.scope, l.unit, l.amount, n.used
  from (select * from recoup.limits l where l.ended_at is null and ${near('(l.total - l.total_before)', 'l.amount')} offset 0) l
  cross join lateral (select ${usedOf('l')} as used offset 0) n
  where ${near('n.used', 'l.amount')}),
holds as materialized (
  select k.kind, 'limit:' || s.id as subject,
    jsonb_build_object('limit', s.id, 'of', s.of, 'scope', s.scope, 'unit', s.unit, 'amount', s.amount, 'used', s.used) as facts
  from spent s cross join lateral (values ('near_exhausted', true), ('exhausted', s.used >= s.amount)) k (kind, so) where k.so
  union all
  select 'snapshot_exhausted', 'snapshot:' || jsonb_build_array(subject_type, subject_id, scope, name)::text,
    jsonb_build_object('of', subject_type || ':' || subject_id, 'scope', scope, 'name', name, 'resetsAt', resets_at)
  from recoup.snapshots where exhausted and coalesce(resets_at > recoup.clock(), true)
  union all
  select 'idle', 'upstream:' || u.id, jsonb_build_object('upstream', u.id, 'pool', u.pool, 'since', t.since)
  from input i join recoup.upstreams u on u.status = 'on' and i.idle_ms is not null
  cross join lateral (
    select greatest(u.used_at, (select e.at from recoup.upstream_events e where e.upstream_id = u.id order by e.number desc limit 1)) as since) t
  where t.since < recoup.clock() - i.idle_ms * interval '1 millisecond'
  union all
  select 'blocked_long', 'block:' || b.id,
    jsonb_build_object('block', b.id, 'of', b.subject_type || ':' || b.subject_id, 'scope', b.scope, 'kind', b.kind, 'since', b.opened_at)
  from input i join recoup.blocks b on b.closed_at is null and b.opened_at < recoup.clock() - i.blocked_ms * interval '1 millisecond')`;
