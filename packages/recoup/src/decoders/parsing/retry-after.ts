// The order to wait: `retry-after-ms`, `retry-after`, or what the provider writes in its body; capped.
import type { Hint } from '../facts/facts.ts';
import { plainNumber, secondsMs, up } from './durations.ts';
import { httpDateMs } from './instants.ts';
import type { Reading } from './reading.ts';

/** The cap unless another is given: what asks for more is rather wrong, or a quota. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/** From the headers, in ms; null where there is none. Zero and less is no hint: it would mean "now", and hammer. */
export function retryAfterMs(reading: Reading): number | null {
  return (
    positive(reading, 'retry-after-ms', (text) => orNull(plainNumber(text), up)) ??
    positive(reading, 'retry-after', (text) => secondsMs(text) ?? untilDate(reading, text))
  );
}

const orNull = (value: number | null, then: (value: number) => number) => (value === null ? null : then(value));

/** An HTTP date is by the provider's clock. */
function untilDate({ now, skewMs }: Reading, text: string): number | null {
  const date = httpDateMs(text);
  return date === null ? null : date - skewMs - now;
}

function positive(reading: Reading, name: string, parse: (text: string) => number | null): number | null {
  const text = reading.headers.get(name);
  if (text === undefined) return null;
  const ms = parse(text);
  if (ms !== null && ms > 0) return ms;
  reading.drop(name, text, ms === null ? 'not_understood' : 'not_positive');
  return null;
}

/** A wait as a hint, at most `max`; that it was longer is noted. */
export function waitHint(reading: Reading, field: string, ms: number | null, max: number): Hint | null {
  if (ms === null || ms <= 0) return null;
  if (ms > max) reading.drop(field, `${ms} ms`, 'implausible_hint');
  return { source: 'retry_after', until: new Date(reading.now + Math.min(ms, max)) };
}
