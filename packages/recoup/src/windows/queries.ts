// Reads of windows: the limits with what is used of them, the windows of one, those whose time is up, the zones.

import { type Columns, statement } from '../db/statement.ts';
import { freeAt, isSecond, usedOf } from './rules.ts';

export interface LimitRow {
  limit: string;
  subject: string;
  scope: string;
  unit: string;
  amount: number;
  used: number;
  kind: string;
  zone: string | null;
  startHour: number | null;
  weekday: number | null;
  day: number | null;
  lengthMs: number | null;
  windowStart: string | null;
  windowEnd: string | null;
  until: string | null;
  endedAt: string | null;
}

/** The limits that SQL behind `from input i` names as `named.id`, each with its window now and what is used of it. */
export const limitsOf = <const C extends Columns>(columns: C, named: string) =>
  statement<C, LimitRow>(
    'limit.list',
    columns,
    () => `
found as materialized (
  select l.*, n.used, case when n.used >= l.amount then ${freeAt('l')} end as until,
    l.window_end > recoup.clock() and not (${isSecond('l.window_start', 'l.window_end')}) as within
  from (select distinct named.id from input i ${named}) named
  join recoup.limits l on l.id = named.id
  cross join lateral (select ${usedOf('l')} as used offset 0) n)
select coalesce(json_agg(json_build_object('limit', id, 'subject', subject_type || ':' || subject_id, 'scope', scope, 'unit', unit, 'amount', amount,
  'used', used, 'kind', kind, 'zone', zone, 'startHour', start_hour, 'weekday', weekday, 'day', day, 'lengthMs', length_ms,
  'windowStart', case when within then window_start end, 'windowEnd', case when within then window_end end,
  'until', until, 'endedAt', ended_at) order by id), '[]')::text as answer
from found`,
  );

const windowsColumns = { limit_id: 'text', count: 'int' } as const;

export interface WindowRow {
  start: string;
  end: string;
  used: number;
  begunBy: 'use' | 'roll' | 'reset';
  actor: string | null;
  reason: string | null;
}

/** The last windows of a limit, newest first; one that was reset ends where the next one begins. */
export const windowsOf = statement<typeof windowsColumns, WindowRow>(
  'window.list',
  windowsColumns,
  () => `
found as materialized (
  select w.*, coalesce(lag(w.total_before) over by_start, l.total) - w.total_before as used, least(w.window_end, lag(w.window_start) over by_start) as ends
  from input i
  join recoup.limits l on l.id = i.limit_id
  cross join lateral (
    select * from recoup.windows w where w.limit_id = i.limit_id order by w.window_start desc limit i.count) w
  window by_start as (order by w.window_start desc))
select coalesce(json_agg(json_build_object('start', window_start, 'end', ends, 'used', used, 'begunBy', begun_by, 'actor', actor, 'reason', reason)
  order by window_start desc), '[]')::text as answer
from found`,
);

const dueColumns = { after_at: 'timestamptz', after_id: 'text', count: 'int' } as const;

export interface DueLimit {
  limit_id: string;
  rolls_at: string;
}

/** Limits with something used in a window whose time is up, by when it was. */
export const dueLimits = statement<typeof dueColumns, DueLimit>(
  'window.due',
  dueColumns,
  () => `
found as materialized (
  select l.* from input i
  cross join lateral (
    select id, rolls_at from recoup.limits
    where rolls_at is not null and rolls_at <= recoup.clock() and (i.after_at is null or (rolls_at, id) > (i.after_at, i.after_id))
    order by rolls_at, id limit i.count) l)
select coalesce(json_agg(json_build_object('limit_id', id, 'rolls_at', rolls_at) order by rolls_at, id), '[]')::text as answer
from found`,
);

const zoneColumns = { zone: 'text' } as const;

/** Whether PostgreSQL has a zone of exactly this name. */
export const knownZone = statement<typeof zoneColumns, { known: boolean }>(
  'limit.zone',
  zoneColumns,
  () => `
found as (select exists (select from pg_timezone_names where name = i.zone) as known from input i)
select coalesce(json_agg(json_build_object('known', known)), '[]')::text as answer from found`,
);
