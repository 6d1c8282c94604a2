// window.reset: a person ends a window early.

import { statement } from '../db/statement.ts';
import { type DecidedRow, decided, held } from './held.ts';
import { isSecond, prunesAt } from './rules.ts';

const resetColumns = { limit_id: 'text', seen_start: 'timestamptz', actor: 'text', reason: 'text' } as const;

/**
 * Guard: something is used in the window, and it is the one that was seen, where one is named. The window is cut at the clock, behind all that is
 * booked in it, and a new one goes on to the same end; of what rolls nothing counts that was used before.
 */
export const resetOf = (freed: string) =>
  statement<typeof resetColumns, DecidedRow>(
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
${freed},
begun as (
  insert into recoup.windows (limit_id, window_start, window_end, total_before, begun_by, actor, reason, prunes_at)
  select limit_id, next_start, next_end, total, 'reset', actor, reason, ${prunesAt('s', 'next_end')} from seen s join won using (ord))${decided('reset')}`,
    { holds: 'limit_id' },
  );
