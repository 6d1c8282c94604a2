// window.roll: the sweep ends a window whose time is up.

import { statement } from '../db/statement.ts';
import { type DecidedRow, decided, held } from './held.ts';
import { nextWindow, prunesAt } from './rules.ts';

const rollColumns = { limit_id: 'text' } as const;

/**
 * Guard: something is used in the window, and its time is up. The sweep of every replica says it: who comes first ends it, the others find another
 * window (`duplicate`). The next one of the calendar begins; the other kinds begin theirs with the next use.
 */
export const rollWindow = statement<typeof rollColumns, DecidedRow>(
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
