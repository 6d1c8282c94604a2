// How much of a window is used, as a fraction. The scale comes from the source: 0.9 may be 90 % or 0.9 %.
import type { Snapshot } from '../facts/facts.ts';
import { plainNumber } from './durations.ts';
import type { Reading } from './reading.ts';

/** Some windows may be overdrawn; twice is where a mistaken scale begins. */
const MAX_USED = 2;

/** The used part of a value in its scale; null where there is none or it is implausible. */
export function usedOf(reading: Reading, field: string, value: unknown, scale: 'fraction' | 'percent'): number | null {
  if (value === undefined || value === null || value === '') return null;
  const number = plainNumber(value);
  const used = number === null ? Number.NaN : scale === 'percent' ? hundredth(number) : number;
  if (used >= 0 && used <= MAX_USED) return used === 0 ? 0 : used;
  reading.drop(field, value, number === null ? 'not_understood' : 'implausible_used');
  return null;
}

/** 0.9 % is 0.009, not 0.009000000000000001. */
const hundredth = (percent: number) => Number((percent / 100).toFixed(12));

/** The used part of a limit of which so much remains. Sentinels such as −1 are no figures. */
export function usedOfCounts(
  reading: Reading,
  field: string,
  limit: unknown,
  remaining: unknown,
): Pick<Snapshot, 'used' | 'scale' | 'exhausted'> {
  const left = count(reading, `${field} remaining`, remaining);
  const all = count(reading, `${field} limit`, limit);
  // A limit of 0 is a sentinel as well: then nothing is known.
  const known = left !== null && all !== null && all > 0;
  const used = known ? Math.max(0, (all - left) / all) : null;
  const absent = limit === undefined || limit === null || limit === '';
  return { used, scale: used === null ? null : 'count', exhausted: left === 0 && (known || absent) };
}

function count(reading: Reading, field: string, value: unknown): number | null {
  if (value === undefined || value === null || value === '') return null;
  const number = plainNumber(value);
  if (number !== null && number >= 0 && number <= Number.MAX_SAFE_INTEGER) return number;
  reading.drop(field, value, number === null ? 'not_understood' : 'implausible_used');
  return null;
}
