// Durations as providers write them: `6m0s`, `20ms`, `1h2m3s`, `36.434s`; a number with words; seconds.

const GRAMMAR = /^(?:(\d{1,7})h)?(?:(\d{1,9})m)?(?:(\d{1,11}(?:\.\d{1,12})?)s)?(?:(\d{1,14}(?:\.\d{1,12})?)ms)?$/;

/** A duration of the grammar in ms, rounded up; null for anything else, never 0 for what is not understood. */
export function durationMs(text: unknown): number | null {
  if (typeof text !== 'string' || text.length > 64) return null;
  const found = GRAMMAR.exec(text.trim());
  if (found === null || found.slice(1).every((part) => part === undefined)) return null;
  const [, h = '0', m = '0', s = '0', ms = '0'] = found;
  return up(Number(h) * 3_600_000 + Number(m) * 60_000 + Number(s) * 1000 + Number(ms));
}

const PLAIN = /^[+-]?\d{1,15}(\.\d{1,12})?$/;

/** A number, or the text of one in plain digits; null for anything else, such as `1e3`, `0x1` or `NaN`. */
export function plainNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return typeof value === 'string' && PLAIN.test(value.trim()) ? Number(value) : null;
}

/** Seconds in ms, rounded up; null where they are none. */
export function secondsMs(value: unknown): number | null {
  const seconds = plainNumber(value);
  return seconds === null ? null : up(seconds * 1000);
}

/** Up to whole milliseconds, the precision of what is stored; binary fractions (41.724 × 1000) are no reason to round. */
export const up = (ms: number): number => Math.ceil(Number(ms.toFixed(3)));

const UNITS: Readonly<Record<string, number>> = {
  millisecond: 1,
  second: 1000,
  sec: 1000,
  minute: 60_000,
  min: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};
const WORDS = /(\d{1,9}(?:\.\d{1,6})?) (millisecond|second|sec|minute|min|hour|day|week)s?\b(?:,? (?:and )?)?/iy;
const COMPACT = /^[\dhms.]{1,40}/;

/** The duration at the start of a text, in the grammar or as numbers with words: `2 days`, `1 hour and 5 minutes`. */
function leadingMs(text: string): number | null {
  let ms = 0;
  WORDS.lastIndex = 0;
  for (let found = WORDS.exec(text); found !== null; found = WORDS.exec(text)) {
    ms += Number(found[1]) * UNITS[found[2]!.toLowerCase()]!;
  }
  if (ms > 0) return up(ms);
  return durationMs(COMPACT.exec(text)?.[0].replace(/\.$/, ''));
}

/** The duration that follows one of the phrases, such as `try again in `; null where none does. */
export function durationAfter(text: string, phrases: readonly string[]): number | null {
  const lower = text.toLowerCase();
  for (const phrase of phrases) {
    const at = lower.indexOf(phrase);
    const ms = at < 0 ? null : leadingMs(text.slice(at + phrase.length, at + phrase.length + 60));
    if (ms !== null) return ms;
  }
  return null;
}
