// Windows told by three headers: a limit, what remains of it, and when it is full again.
import type { Snapshot } from '../facts/facts.ts';
import { durationMs, plainNumber, secondsMs } from './durations.ts';
import { usedOfCounts } from './percent.ts';
import type { Reading } from './reading.ts';
import { snapshotOf } from './windows.ts';

/** `x-ratelimit-limit-requests` and the like, with a reset as a duration (`6m0s`) or in seconds. Lengths are not told. */
export function durationWindows(reading: Reading, kinds: readonly string[] = ['requests', 'tokens']): Snapshot[] {
  return kinds
    .map((kind) => {
      const name = ['x-ratelimit-reset', 'x-rate-limit-reset'].map((start) => `${start}-${kind}`);
      const field = name.find((one) => reading.headers.has(one)) ?? name[0]!;
      const counted = countedBy(reading, kind, [`x-ratelimit-limit-${kind}`, `x-ratelimit-remaining-${kind}`]);
      return snapshotOf(reading, {
        name: kind,
        lengthMs: null,
        ...counted,
        reset: { field, afterMs: distance(reading, field) },
      });
    })
    .filter((snapshot) => snapshot !== null);
}

export function countedBy(reading: Reading, field: string, [limit, remaining]: readonly [string, string]) {
  return usedOfCounts(reading, field, reading.headers.get(limit), reading.headers.get(remaining));
}

/** 0 is "full already", −1 "not known": neither is a reset. */
function distance(reading: Reading, field: string): number | null {
  const text = reading.headers.get(field);
  if (text === undefined || text === '') return null;
  const ms = plainNumber(text) === null ? durationMs(text) : secondsMs(text);
  if (ms === null) reading.drop(field, text, 'not_understood');
  else if (ms < 0) reading.drop(field, text, 'not_positive');
  return ms;
}
