// What verify asks of limits, their windows and uses: each check one pass, as in ../verify.ts.

import { isSecond } from './rules.ts';

const row = (detail: string) =>
  `select null::text as wallet, null::bigint as seq, null::text as job, ${detail} as detail`;

export const windowChecks = [
  {
    name: 'limits.window',
    promise: 'A limit is in the last of its windows, and has counted no less since than it had when that began.',
    sql: `
${row(`'limit ' || l.id || case when w.limit_id is null then ' has no windows and counts ' || l.total
    when l.window_start is distinct from w.window_start or l.window_end is distinct from w.window_end
      then ' says it is in the window of ' || coalesce(l.window_start::text, 'nothing') || ', its last one began at ' || w.window_start
    else ' had counted ' || l.total_before || ' when its window began, the window says ' || w.total_before end`)}
from recoup.limits l
left join (select distinct on (limit_id) * from recoup.windows order by limit_id, window_start desc) w on w.limit_id = l.id
where (w.limit_id is null and l.window_start is not null)
  or (w.limit_id is not null and (l.window_start is distinct from w.window_start or l.window_end is distinct from w.window_end
    or case when ${isSecond('w.window_start', 'w.window_end')} then l.total_before > w.total_before or w.total_before > l.total
       else l.total_before <> w.total_before end))
order by l.id limit $1`,
  },
  {
    name: 'windows.sequence',
    promise:
      'The windows of a limit do not overlap but where one was reset, and each begins with what was counted until then.',
    sql: `
${row(`'limit ' || limit_id || ', window of ' || window_start || case when total_before < prev_total then ' begins with less than the one before it'
    when there then ' begins before the one before it ends' else ' is of a limit that is not there' end`)}
from (
  select w.*, lag(w.total_before) over x as prev_total, lag(w.window_end) over x as prev_end, l.id is not null as there
  from recoup.windows w left join recoup.limits l on l.id = w.limit_id
  window x as (partition by w.limit_id order by w.window_start)) w
where total_before < prev_total or (window_start < prev_end and begun_by <> 'reset') or not there
order by limit_id, window_start limit $1`,
  },
  {
    name: 'windows.uses',
    promise:
      'What is used in a window is the sum of what was booked in it, each use within its time, for as long as uses are kept.',
    sql: `
${row(`'limit ' || coalesce(w.limit_id, u.limit_id) || ', window of ' || coalesce(w.window_start, u.window_start)
    || case when w.limit_id is null then ' is not there, and has uses'
       when u.first_at < w.window_start or u.last_at >= w.window_end or u.last_at >= w.next_start then ' has a use from outside of its time'
       else ' counts ' || w.used || ', its uses ' || coalesce(u.booked, 0) end`)}
from (
  select w.*, coalesce(lead(w.total_before) over x, l.total) - w.total_before as used, lead(w.window_start) over x as next_start
  from recoup.windows w join recoup.limits l on l.id = w.limit_id
  window x as (partition by w.limit_id order by w.window_start)) w
full join (
  select limit_id, window_start, sum(amount) as booked, min(booked_at) as first_at, max(booked_at) as last_at
  from recoup.uses group by limit_id, window_start) u on u.limit_id = w.limit_id and u.window_start = w.window_start
where w.limit_id is null
  or (w.prunes_at is not null and (w.used <> coalesce(u.booked, 0) or u.first_at < w.window_start or u.last_at >= w.window_end or u.last_at >= w.next_start))
  or (w.prunes_at is null and u.limit_id is not null)
order by coalesce(w.limit_id, u.limit_id), coalesce(w.window_start, u.window_start) limit $1`,
  },
] as const;
