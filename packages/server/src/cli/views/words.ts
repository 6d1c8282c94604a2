// Words that views share: instants with how far away they are, subjects, texts of others without control characters.

const UNITS: readonly [ms: number, name: string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
];

/** `3 h 20 min`: the two largest units that say something. */
export function span(ms: number): string {
  let left = Math.round(Math.abs(ms) / 1000) * 1000;
  const parts: string[] = [];
  for (const [unit, name] of UNITS) {
    const count = Math.floor(left / unit);
    if (count > 0 && parts.length < 2) parts.push(`${count} ${name}`);
    else if (parts.length > 0) break;
    left -= count * unit;
  }
  return parts.length === 0 ? '0 s' : parts.join(' ');
}

/** Said wherever nothing but somebody ends it. */
export const NEEDS_PERSON = 'a person has to act';

export type Instant = string | Date;

/** What the library gives, or the same through a server: its dates are texts then. */
export type Told<T> = T extends Date
  ? Instant
  : T extends readonly (infer One)[]
    ? Told<One>[]
    : T extends object
      ? { [Field in keyof T]: Told<T[Field]> }
      : T;

/** To the second, in UTC: what a person reads aloud. */
export const clock = (at: Instant): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** `2026-01-31T12:00:00Z, in 4 min`. */
export function whenIs(at: Instant, now = Date.now()): string {
  const ms = new Date(at).getTime() - now;
  return `${clock(at)}, ${ms > 0 ? `in ${span(ms)}` : `${span(ms)} ago`}`;
}

/** What is out: `upstream:acme/1` is said as `upstream acme/1`, with its scope. */
export const subjectOf = (subject: string, scope: string | null): string => {
  const at = subject.indexOf(':');
  const what = `${subject.slice(0, at).replace('_', ' ')} ${subject.slice(at + 1)}`;
  return scope ? `${what} for ${scope.replace(':', ' ')}` : what;
};

/** No control character of somebody's text reaches the terminal. */
export const clean = (text: string): string => text.replaceAll(/\p{Cc}/gu, '\ufffd');
