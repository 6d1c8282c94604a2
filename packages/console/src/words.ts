// How numbers, instants and durations are written, everywhere the same.
const NUMBER = new Intl.NumberFormat('en-GB');

/** `1 234` as `1,234`, with a true minus. */
export const number = (value: number): string => NUMBER.format(value).replace('-', '−');

/** With its sign, as money that moved is written. */
export const signed = (value: number): string => (value > 0 ? `+${number(value)}` : number(value));

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

const UNITS: readonly [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

/** The two largest units: `2 d 4 h`, `38 s`; below ten seconds with tenths, below one in `ms`. */
export function duration(ms: number): string {
  if (ms < 1000) return ms <= 0 ? '0 s' : `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(Math.max(ms, 0) / 1000).toFixed(1).replace(/\.0$/, '')} s`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[first]!;
  const whole = Math.floor(ms / size);
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((ms - whole * size) / next[1]) : 0;
  return rest > 0 && next ? `${whole} ${unit} ${rest} ${next[0]}` : `${whole} ${unit}`;
}

const two = (value: number) => String(value).padStart(2, '0');
const day = (date: Date) => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

/** In the zone of whoever looks: today without its date. */
export function clock(instant: string | number | Date, withMs = false): string {
  const date = new Date(instant);
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const full = withMs ? `${time}.${String(date.getMilliseconds()).padStart(3, '0')}` : time;
  return day(date) === day(new Date()) ? full : `${day(date)} ${full}`;
}

/** How old something is, in whole seconds. */
export const age = (instant: string, now: number): string =>
  duration(Math.max(Math.floor((now - Date.parse(instant)) / 1000), 0) * 1000);

export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** `retry_after` as `retry after`. */
export const spaced = (code: string): string => code.replaceAll('_', ' ');

/** `a`, `a and b`, `a, b and c`. */
export const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
