// What probes cost and what they bought: minutes of capacity regained against waiting for the time that was said.

import { type Columns, statement } from '../db/statement.ts';

const columns = { since: 'timestamptz', pool: 'text' } as const satisfies Columns;

/** The probes of one pool about blocks of one source. */
export interface ProbeScore {
  pool: string;
  /** Of the blocks: who said when they would end. */
  source: string;
  probes: number;
  yes: number;
  no: number;
  unavailable: number;
  /** Answers that changed nothing: too late, or about a block that had changed meanwhile. */
  ignored: number;
  /** What they used, by unit. */
  cost: Record<string, number>;
  /** From each yes to when the block would have ended by what was said then; of what is due already, nothing. */
  minutesRegained: number;
  /** That, per request. Null: none was made. */
  minutesPerRequest: number | null;
  /** Half of the answers took no longer than this. */
  medianLatencyMs: number | null;
}

export const scoreProbes = statement<typeof columns, ProbeScore>(
  'probe.score',
  columns,
  () => `
found as materialized (
  select p.* from input i
  cross join lateral (
    select * from recoup.probes p where p.started_at >= coalesce(i.since, '-infinity') and (i.pool is null or p.pool = i.pool) and p.ended_at is not null offset 0) p),
used as materialized (
  select pool, source, json_object_agg(unit, amount order by unit) as cost, coalesce(sum(amount) filter (where unit = 'requests'), 0) as requests
  from (select f.pool, f.source, c.key as unit, sum(c.value::bigint) as amount from found f cross join lateral jsonb_each_text(f.cost) c group by 1, 2, 3) x
  group by pool, source),
scored as materialized (
  select pool, source, count(*) as probes, count(*) filter (where outcome = 'confirmed') as yes, count(*) filter (where outcome = 'denied') as no,
    count(*) filter (where outcome = 'unavailable') as unavailable, count(*) filter (where outcome in ('lapsed', 'superseded')) as ignored,
    coalesce(sum(greatest(extract(epoch from until - ended_at) / 60, 0)) filter (where outcome = 'confirmed'), 0) as minutes,
    percentile_cont(0.5) within group (order by latency_ms) as latency
  from found group by pool, source)
select coalesce(json_agg(json_build_object('pool', pool, 'source', source, 'probes', probes, 'yes', yes, 'no', no, 'unavailable', unavailable,
  'ignored', ignored, 'cost', coalesce(cost, '{}'::json), 'minutesRegained', round(minutes, 1), 'minutesPerRequest', round(minutes / nullif(requests, 0), 2),
  'medianLatencyMs', round(latency)) order by pool, source), '[]')::text as answer
from scored left join used using (pool, source)`,
);
