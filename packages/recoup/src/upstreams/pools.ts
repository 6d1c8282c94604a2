// Reads of pools: how many of their upstreams may be used now, and when one that is out is expected back.
import type { Runner } from '../db/runner.ts';
import { type InputOf, statement } from '../db/statement.ts';
import * as check from '../input.ts';
import { candidates, shutSubjects, usableCandidate } from './candidates.ts';
import type { Estimate, Estimates } from './estimates.ts';
import { explained, whenBack } from './explained.ts';
import { explainUpstreams } from './queries.ts';
import { usable } from './usable.ts';

/** Whether a pool can be used now. */
export interface PoolState {
  pool: string;
  /** Whether one of its upstreams may be used now; not of a pool that nobody registered an upstream in. */
  usable: boolean;
  /** Of one that is out: when to ask again, at most 300 s. */
  retryAfterMs: number | null;
  /** When it is expected back: an estimate; now where it is usable, null where every upstream needs a person. */
  expectedRecoveryAt: Date | null;
  /** What that estimate rests on; null where it is usable or has no time to wait for. */
  estimate: Estimate | null;
}

/** A pool in figures. */
export interface Pool {
  pool: string;
  /** Upstreams that are not retired. */
  total: number;
  /** Of those, switched on. */
  on: number;
  /** Of those, usable now. */
  usable: number;
  slotsOut: number;
  /** As in `PoolState`. */
  expectedRecoveryAt: Date | null;
}

interface Asked {
  model?: string;
  capability?: string;
}

const stateColumns = { pool: 'text', model: 'text', capability: 'text' } as const;

/** Walked as far as the first that is usable, as a selection does; those whose own block lasts are not looked at. */
export const poolState = statement<typeof stateColumns, { usable: boolean; now: string }>(
  'pool.state',
  stateColumns,
  () => `${shutSubjects('far')}
found as materialized (
  select exists (
    select from (${candidates('far')} offset 0) c where ${usableCandidate('far', 'c')}) as usable
  from input i)
select json_build_array(json_build_object('usable', usable, 'now', recoup.clock()))::text as answer from found`,
);

const listColumns = { after_pool: 'text', count: 'int' } as const;

interface PoolRow extends Omit<Pool, 'expectedRecoveryAt'> {
  now: string;
}

export const listPools = statement<typeof listColumns, PoolRow>(
  'pool.list',
  listColumns,
  () => `
named as materialized (
  select u.pool from input i
  cross join lateral (
    select distinct pool from recoup.upstreams where pool > coalesce(i.after_pool, '') and status <> 'retired' order by pool limit i.count) u),
found as materialized (
  select u.pool, count(*) as total, count(*) filter (where u.status = 'on') as "on",
    count(*) filter (where u.status = 'on' and (u.blocked_until is null or u.blocked_until <= recoup.clock()) and ${usable('u', `array['']`)}) as usable
  from named n join recoup.upstreams u on u.pool = n.pool and u.status <> 'retired'
  group by u.pool),
out as materialized (
  select u.pool, count(*) as slots_out from recoup.upstream_leases l join recoup.upstreams u on u.id = l.upstream_id
  where l.lease_until > recoup.clock() group by u.pool)
select coalesce(json_agg(json_build_object('pool', pool, 'total', total, 'on', "on", 'usable', usable, 'slotsOut', coalesce(slots_out, 0), 'now', recoup.clock())
  order by pool), '[]')::text as answer
from found left join out using (pool)`,
);

/** So many that are back first are looked at for when to come back. */
const NEAREST = 20;

/** What decides when pools are back: of each the upstreams that are usable first. */
export const readNearest = (runner: Runner, uses: readonly InputOf<typeof stateColumns>[]) =>
  runner.read(
    explainUpstreams,
    uses.map((use) => ({ ...use, nearest: NEAREST })),
  );

export async function readPool(runner: Runner, estimates: Estimates, pool: string, use: Asked): Promise<PoolState> {
  check.onlyFields('pool', use, ['model', 'capability']);
  const row = {
    pool: check.id('pool', pool),
    model: check.optionalId('model', use.model),
    capability: check.optionalId('capability', use.capability),
  };
  const [state] = await runner.read(poolState, [row]);
  const now = Date.parse(state!.now);
  if (state!.usable)
    return { pool, usable: true, retryAfterMs: null, expectedRecoveryAt: new Date(now), estimate: null };
  const rows = await readNearest(runner, [row]);
  const spreadOf = await estimates.spreads();
  return {
    pool,
    usable: false,
    ...whenBack(
      rows.map((one) => explained(one, spreadOf)),
      now,
    ),
  };
}

export async function readPools(
  runner: Runner,
  estimates: Estimates,
  options: { cursor?: string | null; limit?: number },
) {
  check.onlyFields('pools', options, ['cursor', 'limit']);
  const count = check.optionalInteger('limit', options.limit, 1, 1000) ?? 100;
  const rows = await runner.read(listPools, [{ after_pool: check.optionalId('cursor', options.cursor), count }]);
  const out = rows.filter(({ usable }) => usable === 0);
  const nearest =
    out.length === 0
      ? []
      : await readNearest(
          runner,
          out.map(({ pool }) => ({ pool })),
        );
  const spreadOf = await estimates.spreads();
  const of = (pool: string) => nearest.filter((row) => row.pool === pool).map((one) => explained(one, spreadOf));
  const pools: Pool[] = rows.map(({ now, ...row }) => {
    const at = Date.parse(now);
    const expectedRecoveryAt = row.usable > 0 ? new Date(at) : whenBack(of(row.pool), at).expectedRecoveryAt;
    return { ...row, expectedRecoveryAt };
  });
  return { pools, cursor: rows.length === count ? rows.at(-1)!.pool : null };
}
