// limit.set: how much of a unit a subject may use in a window.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { DEFINITION, isSecond } from './rules.ts';

const setColumns = {
  limit_id: 'text',
  subject_type: 'text',
  subject_id: 'text',
  scope: 'text',
  unit: 'text',
  kind: 'text',
  zone: 'text',
  start_hour: 'int',
  weekday: 'int',
  day: 'int',
  length_ms: 'bigint',
  amount: 'bigint',
} as const;

const old = (columns: string) =>
  columns
    .split(', ')
    .map((column) => `old_${column}`)
    .join(', ');
const IDENTITY = 'subject_type, subject_id, scope, unit';
const SAYS = `${DEFINITION}, amount`;
const asOld = (columns: string) =>
  columns
    .split(', ')
    .map((column) => `${column} as old_${column}`)
    .join(', ');

/**
 * Guard: none of that id, or one of the same subject, scope and unit. A new amount counts at once. A new kind, zone or hour counts from the next
 * window on: the row says in which one it is, and that one ends when it said. One that had ended counts again.
 *
 * `missing`: SQL that tells of the input `h` that there is no such subject, as an outcome, or null. `freed`: a CTE for what rests on the limits
 * that `won` names, of `seen`.
 */
export const setOf = (missing: string, freed: string) =>
  statement<typeof setColumns, RawAnswer>(
    'limit.set',
    setColumns,
    (lock) => `
held as materialized (
  select i.*, l.*, row_number() over (partition by i.limit_id order by i.ord) as twin,
    (select true from recoup.limits l where l.id = i.limit_id) as there
  from (select * from input order by limit_id, ord) i
  left join lateral (
    select ctid as tid, tableoid as part, id as old_id, ${asOld(`${IDENTITY}, ${SAYS}`)}, ended_at
    from recoup.limits where id = i.limit_id for no key update ${lock}) l on true),
seen as materialized (
  select h.*, case
    when old_id is null and there then 'busy'
    when twin > 1 then 'again'
    when old_id is null then coalesce(${missing}, 'set')
    when (${IDENTITY}) is distinct from (${old(IDENTITY)}) then 'conflict'
    when (${SAYS}) is distinct from (${old(SAYS)}) or ended_at is not null then 'changed'
    else 'duplicate' end as verdict
  from held h),
made as (
  insert into recoup.limits (id, ${IDENTITY}, ${SAYS}, set_at)
  select limit_id, ${IDENTITY}, ${SAYS}, recoup.clock() from seen where verdict = 'set'
  on conflict (id) do nothing
  returning id),
won as (
  update recoup.limits l set kind = s.kind, zone = s.zone, start_hour = s.start_hour, weekday = s.weekday, day = s.day, length_ms = s.length_ms,
    amount = s.amount, ended_at = null,
    rolls_at = case when l.total > l.total_before and not (${isSecond('l.window_start', 'l.window_end')}) then coalesce(l.rolls_at, l.window_end) end
  from seen s where l.ctid = s.tid and l.tableoid = s.part and s.verdict = 'changed'
  returning s.ord),
${freed}${answerEach(
  'seen s',
  `case when verdict = 'set' and not exists (select from made m where m.id = s.limit_id) then 'again'
         when verdict = 'changed' and not exists (select from won w where w.ord = s.ord) then 'again' else verdict end`,
  {},
)}`,
    { holds: 'limit_id' },
  );
