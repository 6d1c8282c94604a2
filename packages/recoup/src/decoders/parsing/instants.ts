// Instants as providers write them: Unix seconds or milliseconds, RFC 3339, HTTP dates; and the Pacific midnight.
import { plainNumber, up } from './durations.ts';

/** From here on a Unix time is in milliseconds: as seconds it would be the year 5138. */
const MILLISECONDS_FROM = 1e11;
const ISO = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)?$/;

/** Unix time or RFC 3339 (without an offset: UTC) in ms, rounded up; null for anything else. */
export function instantMs(value: unknown): number | null {
  const number = plainNumber(value);
  if (number !== null) return number > 0 ? up(number < MILLISECONDS_FROM ? number * 1000 : number) : null;
  const found = typeof value === 'string' && value.length <= 64 ? ISO.exec(value.trim()) : null;
  if (found === null) return null;
  const [, date, time, fraction = '0', offset = 'Z'] = found;
  // Date.parse moves the 30th of February to March.
  if (!existing(Number(date!.slice(0, 4)), Number(date!.slice(5, 7)), Number(date!.slice(8)))) return null;
  const ms = Date.parse(`${date}T${time}${offset.toUpperCase()}`);
  return Number.isNaN(ms) ? null : up(ms + Number(`0.${fraction}`) * 1000);
}

const existing = (year: number, month: number, day: number) =>
  month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TIME = '(\\d\\d):(\\d\\d):(\\d\\d)';
/** The three forms of RFC 9110, 5.6.7, each with where day, month, year and time stand. */
const HTTP_DATES: readonly [RegExp, readonly [number, number, number, number]][] = [
  [new RegExp(`^[A-Z][a-z]{2}, (\\d\\d) ([A-Z][a-z]{2}) (\\d{4}) ${TIME} GMT$`), [1, 2, 3, 4]],
  [new RegExp(`^[A-Z][a-z]{5,8}, (\\d\\d)-([A-Z][a-z]{2})-(\\d\\d) ${TIME} GMT$`), [1, 2, 3, 4]],
  [new RegExp(`^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \\d]\\d) ${TIME} (\\d{4})$`), [2, 1, 6, 3]],
];

/** An HTTP date in ms; null for anything else. */
export function httpDateMs(value: unknown): number | null {
  if (typeof value !== 'string' || value.length > 64) return null;
  for (const [form, [d, m, y, t]] of HTTP_DATES) {
    const found = form.exec(value.trim());
    if (found === null) continue;
    const month = MONTHS.indexOf(found[m]!) + 1;
    // Two digits: RFC 9110 takes what looks more than 50 years ahead as past; nothing here is from before 2000.
    const year = Number(found[y]) + (found[y]!.length === 2 ? 2000 : 0);
    const [hour, minute, second] = [Number(found[t]), Number(found[t + 1]), Number(found[t + 2])];
    if (!existing(year, month, Number(found[d])) || hour > 23 || minute > 59 || second > 60) return null;
    return Date.UTC(year, month - 1, Number(found[d]), hour, minute, second);
  }
  return null;
}

let pacific: Intl.DateTimeFormat | undefined;

/** The next midnight in America/Los_Angeles after `now`. Its clocks change at two, so every day there has one. */
export function pacificMidnight(now: number): number {
  pacific ??= new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/Los_Angeles',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
  });
  const parts = (at: number) =>
    Object.fromEntries(pacific!.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year, month, day } = parts(now);
  const tomorrow = Date.UTC(year!, month! - 1, day! + 1);
  return [7, 8].map((hours) => tomorrow + hours * 3_600_000).find((at) => parts(at).hour === 0)!;
}
