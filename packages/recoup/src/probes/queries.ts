// Reads of probes: when the next is due, how pools are asked, what was asked of a block.

import { type Columns, statement } from '../db/statement.ts';
import type { HttpProbe } from './http.ts';

const none = { nothing: 'boolean' } as const satisfies Columns;

/** Milliseconds until something may be asked or a question lapses; null: nothing will. What is due already is not in it: who can ask does so. */
export const nextProbe = statement<typeof none, { inMs: number | null }>(
  'probe.next',
  none,
  () => `
next as (
  select least(
    (select until from recoup.blocks where closed_at is null and gate_ms is not null and until > recoup.clock() order by until limit 1),
    (select next_check_at from recoup.blocks where closed_at is null and next_check_at is not null and next_check_at > recoup.clock() order by next_check_at limit 1),
    (select lease_until from recoup.probes where ended_at is null order by lease_until limit 1)) as at)
select json_build_array(json_build_object('inMs', ceil(extract(epoch from at - recoup.clock()) * 1000)))::text as answer from next`,
);

export interface ProberRow {
  pool: string;
  kind: 'function' | 'http';
  http: HttpProbe | null;
  graceMs: number;
  everyMs: number;
  timeoutMs: number;
  cost: Record<string, number>;
  setAt: string;
  actor: string | null;
}

export const listProbers = statement<typeof none, ProberRow>(
  'prober.list',
  none,
  () => `
found as materialized (select * from recoup.probers)
select coalesce(json_agg(json_build_object('pool', pool, 'kind', kind, 'http', http, 'graceMs', grace_ms, 'everyMs', every_ms, 'timeoutMs', timeout_ms,
  'cost', cost, 'setAt', set_at, 'actor', actor) order by pool), '[]')::text as answer
from found`,
);

const listed = {
  block_id: 'bigint',
  upstream_id: 'text',
  before_id: 'bigint',
  count: 'int',
} as const satisfies Columns;

export interface ProbeRow {
  probe: number;
  block: number;
  upstream: string;
  pool: string;
  kind: 'due' | 'early' | 'asked';
  startedAt: string;
  endedAt: string | null;
  result: 'yes' | 'no' | 'unavailable' | null;
  outcome: 'confirmed' | 'denied' | 'unavailable' | 'superseded' | 'lapsed' | null;
  latencyMs: number | null;
  cost: Record<string, number>;
  reason: string | null;
  claimedBy: string | null;
  askedBy: string | null;
}

/** The newest probes, of a block or of an upstream or of all. */
export const listProbes = statement<typeof listed, ProbeRow>(
  'probe.list',
  listed,
  () => `
page as materialized (
  select p.* from input i
  cross join lateral (
    (select * from recoup.probes p where p.block_id = i.block_id and p.id < coalesce(i.before_id, 9223372036854775807) order by p.id desc limit i.count)
    union all
    (select * from recoup.probes p where i.block_id is null and (i.upstream_id is null or p.upstream_id = i.upstream_id)
       and p.id < coalesce(i.before_id, 9223372036854775807) order by p.id desc limit i.count)) p)
select coalesce(json_agg(json_build_object('probe', id, 'block', block_id, 'upstream', upstream_id, 'pool', pool, 'kind', kind, 'startedAt', started_at,
  'endedAt', ended_at, 'result', result, 'outcome', outcome, 'latencyMs', latency_ms, 'cost', cost, 'reason', reason, 'claimedBy', claimed_by,
  'askedBy', asked_by) order by id desc), '[]')::text as answer
from page`,
);
