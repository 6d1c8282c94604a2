// Limits, their windows, and windows of providers for a person: what is used, of how much, until when.
import { tableOf } from './tables.ts';
import { clock, type Instant, span, subjectOf, whenIs } from './words.ts';

interface Limit {
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
  windowEnd: Instant | null;
  until: Instant | null;
  endedAt: Instant | null;
}
interface LimitWindow {
  start: Instant;
  end: Instant;
  used: number;
  begunBy: string;
  actor: string | null;
  reason: string | null;
}
interface KnownWindow {
  subject: string;
  scope: string;
  name: string;
  used: number | null;
  exhausted: boolean;
  resetsAt: Instant | null;
  observedAt: Instant;
}

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
