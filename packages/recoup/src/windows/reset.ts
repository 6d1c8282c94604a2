// window.reset and window.roll: a person ends a window early; the sweep ends one whose time is up.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { bookedAt, isSecond, nextWindow, prunesAt, ROW } from './rules.ts';

const held = (lock: string) => `
held as materialized (
  select i.*, l.*, row_number() over (partition by i.limit_id order by i.ord) as twin, ${bookedAt('l')} as at, recoup.clock() as now,
    (select true from recoup.limits l where l.id = i.limit_id) as there
  from (select * from input order by limit_id, ord) i
  left join lateral (
    select ctid as tid, tableoid as part, ${ROW} from recoup.limits where id = i.limit_id for no key update ${lock}) l on true)`;

/** Where the row that was locked is newer than the snapshot, the write found none: once more. */
const decided = (outcome: string) =>
  answerEach(
    'seen s',
    `case when verdict = '${outcome}' and not exists (select from won w where w.ord = s.ord) then 'again' else verdict end`,
    {},
  );

const resetColumns = { limit_id: 'text', seen_start: 'timestamptz', actor: 'text', reason: 'text' } as const;

/**
 * Guard: something is used in the window, and it is the one that was seen, where one is named. The window is cut at the clock, behind all that is
 * booked in it, and a new one goes on to the same end; of what rolls nothing counts that was used before.
 */
export const resetWindow = statement<typeof resetColumns, RawAnswer>(
  'window.reset',
  resetColumns,
  (lock) => `${held(lock)},
cut as materialized (
  select h.*, case when rolling then date_trunc('second', from_at + interval '999999 microseconds') else from_at end as next_start, from_at
  from (
    select h.*, kind = 'rolling' and (${isSecond('window_start', 'window_end')} or window_end <= at) as rolling,
      greatest(now, last_at + interval '1 microsecond') as from_at
    from held h) h),
seen as materialized (
  select c.*, case when rolling then next_start + interval '1 second' else window_end end as next_end, case
    when id is null then case when there then 'busy' else 'no_limit' end
    when twin > 1 then 'again'
    when window_start is null or total = total_before or not (rolling or window_end > next_start) then 'duplicate'
    when seen_start <> date_trunc('milliseconds', window_start) then 'duplicate'
    else 'reset' end as verdict
  from cut c),
won as (
  update recoup.limits l set total_before = l.total, window_start = s.next_start, window_end = s.next_end, last_at = s.next_start, rolls_at = null
  from seen s where l.ctid = s.tid and l.tableoid = s.part and s.verdict = 'reset'
  returning s.ord),
begun as (
  insert into recoup.windows (limit_id, window_start, window_end, total_before, begun_by, actor, reason, prunes_at)
  select limit_id, next_start, next_end, total, 'reset', actor, reason, ${prunesAt('s', 'next_end')} from seen s join won using (ord))${decided('reset')}`,
  { holds: 'limit_id' },
);

const rollColumns = { limit_id: 'text' } as const;

/**
 * Guard: something is used in the window, and its time is up. The sweep of every replica says it: who comes first ends it, the others find another
 * window (`duplicate`). The next one of the calendar begins; the other kinds begin theirs with the next use.
 */
export const rollWindow = statement<typeof rollColumns, RawAnswer>(
  'window.roll',
  rollColumns,
  (lock) => `${held(lock)},
seen as materialized (
  select h.*, case
    when id is null then case when there then 'busy' else 'duplicate' end
    when twin > 1 or rolls_at is null or rolls_at > now then 'duplicate'
    else 'rolled' end as verdict,
    case when zone is not null and rolls_at <= now then ${nextWindow('h', 'h.at')} end as next
  from held h),
won as (
  update recoup.limits l set total_before = case when s.next is null then l.total_before else l.total end,
    window_start = coalesce(s.next[1], l.window_start), window_end = coalesce(s.next[2], l.window_end), last_at = coalesce(s.next[1], l.last_at),
    rolls_at = null
  from seen s where l.ctid = s.tid and l.tableoid = s.part and s.verdict = 'rolled'
  returning s.ord),
begun as (
  insert into recoup.windows (limit_id, window_start, window_end, total_before, begun_by, prunes_at)
  select limit_id, next[1], next[2], total, 'roll', ${prunesAt('s', 'next[2]')} from seen s join won using (ord) where next is not null)${decided('rolled')}`,
  { holds: 'limit_id', waits: false },
);
