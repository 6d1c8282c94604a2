// The rules of windows as SQL: which window an instant falls in, what is used in it, when a limit that is used up has room again.

/** What a limit says, column by column. */
export const DEFINITION = 'kind, zone, start_hour, weekday, day, length_ms';

/** Everything of a limit's row that a statement holds. */
export const ROW = `id, subject_type, subject_id, scope, unit, ${DEFINITION}, amount, total, total_before, window_start, window_end, last_at, rolls_at,
  set_at, ended_at`;

/** A second of a limit that rolls: windows of the other kinds are longer. */
export const isSecond = (start: string, end: string) => `${end} - ${start} <= interval '1 second'`;

/**
 * The instant at which something is booked on the held limit `l`: the clock, but never before what was booked last, since a transaction's clock
 * stands at its beginning. What rolls is booked at the full second behind it, so that it never falls out early.
 */
export const bookedAt = (l: string) => {
  const at = `greatest(recoup.clock(), ${l}.last_at)`;
  return `case ${l}.kind when 'rolling' then date_trunc('second', ${at} + interval '999999 microseconds') else ${at} end`;
};

/**
 * The window that begins at `at` on the held limit `l`, as an array of start and end: that of the calendar, from where the last one ended. So
 * a limit whose kind or zone was changed goes on where its old window ends.
 */
export const nextWindow = (l: string, at: string) => `(
    select array[greatest(w.window_start, ${l}.window_end), w.window_end]
    from recoup.window_of(${l}.kind, ${l}.zone, ${l}.start_hour, ${l}.weekday, ${l}.day, ${l}.length_ms, ${at}) w)`;

/** A day is longer than any report is repeated; seconds that roll are needed for as long as they count. */
export const prunesAt = (l: string, end: string) =>
  `${end} + interval '24 hours' + case ${l}.kind when 'rolling' then ${l}.length_ms else 0 end * interval '1 millisecond'`;

const length = (l: string) => `${l}.length_ms * interval '1 millisecond'`;

/** Whether the limit `l` counts what was used lately: it rolls, and is not still in a window from before it did. */
const rolls = (l: string) =>
  `${l}.kind = 'rolling' and (${l}.window_end <= recoup.clock() or ${isSecond(`${l}.window_start`, `${l}.window_end`)})`;

/** What had been used when the first second that still counts began. */
const sinceRolling = (l: string) => `greatest(${l}.total_before, coalesce((
      select w.total_before from recoup.windows w
      where w.limit_id = ${l}.id and w.window_start > recoup.clock() - ${length(l)} order by w.window_start limit 1), ${l}.total))`;

/** What had been used when what counts now began, of a limit whose window is not over or that rolls. */
export const sinceOf = (l: string) => `case when ${rolls(l)} then ${sinceRolling(l)} else ${l}.total_before end`;

/**
 * What is used of the limit `l` now; nothing, where it was set to another kind in a second that rolled. Of what rolls: all that was ever used less what had been when the first second that still counts began; one
 * look-up, however much was used in between.
 */
export const usedOf = (l: string) => `case
    when ${rolls(l)} then ${l}.total - ${sinceRolling(l)}
    when ${l}.window_end > recoup.clock() and not (${isSecond(`${l}.window_start`, `${l}.window_end`)}) then ${l}.total - ${l}.total_before
    else 0 end`;

/** When the limit `l`, which is used up, has room again: with its next window, or when enough of the oldest has fallen out. */
export const freeAt = (l: string) => `case
    when ${rolls(l)} then (
      select w.window_start from recoup.windows w
      where w.limit_id = ${l}.id and w.total_before <= ${l}.total - ${l}.amount order by w.total_before desc, w.window_start desc limit 1) + ${length(l)}
    else ${l}.window_end end`;

/**
 * The limits of the subjects that are used up, with `used` and `until`. `scopes`: an array. The offset keeps the planner from looking at all limits
 * at once, whatever its statistics say.
 */
export const usedUp = (subjects: string, scopes: string) => `
  select l.*, n.used, ${freeAt('l')} as until
  from ${subjects}
  cross join lateral (
    select * from recoup.limits l
    where l.subject_type = subject.type and l.subject_id = subject.id and l.ended_at is null and l.scope = any (${scopes}) offset 0) l
  cross join lateral (select ${usedOf('l')} as used offset 0) n
  where n.used >= l.amount`;
