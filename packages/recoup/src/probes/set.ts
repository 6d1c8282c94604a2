// prober.set, prober.remove: how the upstreams of a pool are asked whether they work again.

import type { RawAnswer } from '../db/runner.ts';
import { type Columns, statement } from '../db/statement.ts';

const columns = {
  pool: 'text',
  http: 'jsonb',
  grace_ms: 'bigint',
  every_ms: 'bigint',
  timeout_ms: 'bigint',
  cost: 'jsonb',
  actor: 'text',
} as const satisfies Columns;

/** Guard: set otherwise, or not at all (`duplicate`: it is just so). What is open stays as it opened: a block waits as its pool was set then. */
export const setProber = statement<typeof columns, RawAnswer>(
  'prober.set',
  columns,
  () => `
won as (
  insert into recoup.probers as p (pool, kind, http, grace_ms, every_ms, timeout_ms, cost, set_at, actor)
  select pool, case when http is null then 'function' else 'http' end, http, grace_ms, every_ms, timeout_ms, cost, recoup.clock(), actor from input
  on conflict (pool) do update set kind = excluded.kind, http = excluded.http, grace_ms = excluded.grace_ms, every_ms = excluded.every_ms,
    timeout_ms = excluded.timeout_ms, cost = excluded.cost, set_at = excluded.set_at, actor = excluded.actor
  where (p.kind, p.http, p.grace_ms, p.every_ms, p.timeout_ms, p.cost)
    is distinct from (excluded.kind, excluded.http, excluded.grace_ms, excluded.every_ms, excluded.timeout_ms, excluded.cost)
  returning p.pool)
select json_build_array(json_build_object('ord', 1, 'outcome', case when exists (select from won) then 'set' else 'duplicate' end))::text as answer`,
  { holds: 'pool' },
);

const onePool = { pool: 'text' } as const satisfies Columns;

/**
 * Guard: there is one. What waits for an answer waits until its grace is over. Checks of what is out are forgotten, so that nobody walks over
 * questions that nobody asks; a block that somebody holds keeps its own.
 */
export const removeProber = statement<typeof onePool, RawAnswer>(
  'prober.remove',
  onePool,
  () => `
won as (delete from recoup.probers p using input i where p.pool = i.pool returning p.pool),
checked as materialized (
  select b.id from won w join recoup.upstreams u on u.pool = w.pool
  cross join lateral (
    select b.id from recoup.blocks b
    where b.closed_at is null and b.subject_type = 'upstream' and b.subject_id = u.id and b.next_check_at is not null for no key update skip locked) b),
forgotten as (
  update recoup.blocks b set next_check_at = null, asked_at = null, asked_by = null from checked c where b.id = c.id and b.closed_at is null)
select json_build_array(json_build_object('ord', 1, 'outcome', case when exists (select from won) then 'removed' else 'duplicate' end))::text as answer`,
  { holds: 'pool' },
);
