// probe.ask: a person wants everything of a pool asked again, whatever its time; and how far that is.

import { type Columns, statement } from '../db/statement.ts';

const columns = {
  pool: 'text',
  policy: 'text',
  kind: 'text',
  confirm: 'int',
  actor: 'text',
} as const satisfies Columns;

export interface AskedRow {
  /** Blocks that may be asked. */
  count: number;
  /** Those that may not: a provider's order to wait that lasts, what a person has decided; all, where the pool has no prober. */
  left: number;
  asked: number;
  /** Names this time; null: nothing was asked. */
  asked_at: string | null;
}

/** More in flight at once would be no bound. */
export const MAX_ASKED = 10_000;

/**
 * The open blocks of the upstreams of a pool and of what they share. Guard: as many as were confirmed may be asked; each stays out until it is
 * answered (see probe.answer), however long that takes.
 */
export const askProbes = statement<typeof columns, AskedRow>(
  'probe.ask',
  columns,
  () => `
open as materialized (
  select b.id, i.*, b.kind = 'operator' or (b.source = 'retry_after' and b.until > recoup.clock())
    or not exists (select from recoup.probers p where p.pool = i.pool) as stays
  from input i
  cross join lateral (
    select * from recoup.blocks b
    where b.closed_at is null and (i.policy is null or b.policy = i.policy) and (i.kind is null or b.kind = i.kind) offset 0) b
  where exists (
    select from recoup.upstreams u where b.subject_type = 'upstream' and u.id = b.subject_id and u.pool = i.pool
    union all
    select from recoup.upstreams u where b.subject_type <> 'upstream' and u.pool = i.pool
      and b.subject_id = case b.subject_type when 'quota_group' then u.quota_group when 'provider' then u.provider else u.route end)
  order by b.id limit ${MAX_ASKED} + 1),
counted as materialized (
  select (select count(*) from open where not stays) as may, (select count(*) from open where stays) as stay),
won as (
  update recoup.blocks b set asked_at = recoup.clock(), asked_by = o.actor, next_check_at = recoup.clock()
  from open o cross join counted c
  where b.id = o.id and not o.stays and o.confirm = c.may and c.may between 1 and ${MAX_ASKED} and b.closed_at is null
  returning b.id)
select json_build_array(json_build_object('count', may, 'left', stay, 'asked', (select count(*) from won),
  'asked_at', case when exists (select from won) then recoup.clock() end))::text as answer
from counted`,
);

const oneTime = { asked_at: 'timestamptz' } as const satisfies Columns;

export interface ProgressRow {
  /** Not answered yet. */
  open: number;
  yes: number;
  no: number;
  unavailable: number;
}

/** Of what was asked at that time. What was closed, or changed by news of a use, before it was answered is in none of them. */
export const readProgress = statement<typeof oneTime, ProgressRow>(
  'probe.progress',
  oneTime,
  () => `
answered as materialized (
  select p.outcome from input i cross join lateral (select outcome from recoup.probes where recoup.probes.asked_at = i.asked_at) p)
select json_build_array(json_build_object(
  'open', (select count(*) from input i cross join lateral (
    select from recoup.blocks b where b.closed_at is null and b.next_check_at is not null and b.asked_at = i.asked_at) b),
  'yes', (select count(*) from answered where outcome = 'confirmed'), 'no', (select count(*) from answered where outcome = 'denied'),
  'unavailable', (select count(*) from answered where outcome = 'unavailable')))::text as answer`,
);
