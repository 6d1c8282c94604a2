// Limits, their windows, and windows of providers for a person: what is used, of how much, until when.
import type * as library from 'recoup';
import { tableOf } from './tables.ts';
import { clock, span, subjectOf, type Told, whenIs } from './words.ts';

type Limit = Told<library.Limit>;
type LimitWindow = Told<library.LimitWindow>;
type KnownWindow = Told<library.KnownWindow>;

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const percent = (part: number) => `${Math.round(part * 1000) / 10} %`;

/** `daily at 09:00 Europe/Berlin`, `the last 5 h`. */
function every({ kind, zone, startHour, weekday, day, lengthMs }: Limit): string {
  if (kind === 'rolling') return `the last ${span(lengthMs!)}`;
  if (kind === 'first_use') return `${span(lengthMs!)} from the first use`;
  const on = kind === 'weekly' ? ` on ${DAYS[weekday!]}` : kind === 'monthly' ? ` on day ${day}` : '';
  return `${kind}${on} at ${String(startHour).padStart(2, '0')}:00 ${zone}`;
}

function next({ windowEnd, until, endedAt }: Limit): string {
  if (endedAt !== null) return `ended ${whenIs(endedAt)}`;
  if (until !== null) return `used up until ${whenIs(until)}`;
  return windowEnd === null ? '' : `begins anew ${whenIs(windowEnd)}`;
}

const limitRow = (one: Limit) => ({
  limit: one.limit,
  on: subjectOf(one.subject, one.scope),
  used: `${one.used} of ${one.amount} ${one.unit}`,
  '%': percent(one.used / one.amount),
  window: every(one),
  next: next(one),
});

/** By the name of the operation. */
export const limitViews = {
  'limits.list': ({ limits }: { limits: Limit[] }) => tableOf(limits.map(limitRow)),
  'limits.get': (limit: Limit) => tableOf([limitRow(limit)]),
  'limits.windows': ({ windows }: { windows: LimitWindow[] }) =>
    tableOf(
      windows.map(({ start, end, used, begunBy, actor, reason }) => ({
        from: clock(start),
        to: whenIs(end),
        used,
        begunBy,
        by: actor,
        said: reason,
      })),
    ),
  'upstreams.snapshots': ({ snapshots }: { snapshots: KnownWindow[] }) =>
    tableOf(
      snapshots.map(({ subject, scope, name, used, exhausted, resetsAt, observedAt }) => ({
        on: subjectOf(subject, scope),
        window: name,
        used: used === null ? null : percent(used),
        usedUp: exhausted ? 'yes' : 'no',
        resets: resetsAt === null ? null : whenIs(resetsAt),
        seen: whenIs(observedAt),
      })),
    ),
};
