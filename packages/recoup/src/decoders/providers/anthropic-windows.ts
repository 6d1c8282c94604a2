// The windows of Anthropic: an API key's limits, a subscription's unified headers, and the usage page.
import { ALL, type Scope, type Snapshot } from '../facts/facts.ts';
import { countedBy } from '../parsing/counted-windows.ts';
import { plainNumber } from '../parsing/durations.ts';
import { at, isObject } from '../parsing/json.ts';
import { usedOf } from '../parsing/percent.ts';
import type { Reading } from '../parsing/reading.ts';
import { DAY, HOUR, resetOf, snapshotOf } from '../parsing/windows.ts';

const START = 'anthropic-ratelimit';
const LENGTHS: Readonly<Record<string, number>> = { five_hour: 5 * HOUR, seven_day: 7 * DAY };
/** As representative claims name what the headers call `5h` and `7d`. */
const CLAIMS: Readonly<Record<string, string>> = { five_hour: '5h', seven_day: '7d' };

export function anthropicWindows(reading: Reading): Snapshot[] {
  return [...ofKey(reading), ...unified(reading), ...reading.body.values.flatMap((value) => ofUsage(reading, value))];
}

function ofKey(reading: Reading): Snapshot[] {
  return ['requests', 'tokens', 'input-tokens', 'output-tokens']
    .map((kind) => {
      const start = `${START}-${kind}`;
      const counted = countedBy(reading, start, [`${start}-limit`, `${start}-remaining`]);
      const reset = { field: `${start}-reset`, at: reading.headers.get(`${start}-reset`) };
      return snapshotOf(reading, { name: kind, lengthMs: null, ...counted, reset });
    })
    .filter((snapshot) => snapshot !== null);
}

const WINDOW = /^anthropic-ratelimit-unified-((\d{1,3})([hd])(?:_[a-z0-9_]{1,40})?)-(?:status|reset|utilization)$/;

function unified(reading: Reading): Snapshot[] {
  const { headers } = reading;
  const start = `${START}-unified`;
  const names = [
    ...new Set(
      [...headers.keys()]
        .sort()
        .map((name) => WINDOW.exec(name)?.[1])
        .filter((name) => name !== undefined),
    ),
  ];
  const windows = names.slice(0, 16).map((name) => ofWindow(reading, `${start}-${name}`, name));
  const found = windows.filter((snapshot) => snapshot !== null);
  if (!rejected(reading) || found.some(({ exhausted }) => exhausted)) return found;
  // Rejected, and no window says that it is the one: the claim names it.
  const claim = headers.get(`${start}-representative-claim`)?.toLowerCase() ?? '';
  if (!Object.hasOwn(CLAIMS, claim)) return found;
  const reset = { field: `${start}-reset`, at: headers.get(`${start}-reset`) };
  const claimed = { name: CLAIMS[claim]!, lengthMs: LENGTHS[claim]!, used: null, scale: null, exhausted: true };
  return [...found.filter(({ name }) => name !== claimed.name), snapshotOf(reading, { ...claimed, reset })!];
}

export const rejected = ({ headers }: Reading) => headers.get(`${START}-unified-status`)?.toLowerCase() === 'rejected';

/** Of a rejection that names no window. */
export function unifiedResetMs(reading: Reading): number | null {
  if (!rejected(reading) || unified(reading).some(({ exhausted }) => exhausted)) return null;
  const field = `${START}-unified-reset`;
  return resetOf(reading, { field, at: reading.headers.get(field) }, null);
}

function ofWindow(reading: Reading, start: string, name: string): Snapshot | null {
  const { headers } = reading;
  const [, number, unit] = /^(\d+)([hd])/.exec(name)!;
  const surpassed = headers.get(`${start}-surpassed-threshold`)?.toLowerCase();
  return snapshotOf(reading, {
    name,
    lengthMs: Number(number) * (unit === 'h' ? HOUR : DAY) || null,
    used: usedOf(reading, `${start}-utilization`, headers.get(`${start}-utilization`), 'fraction'),
    scale: 'fraction',
    reset: { field: `${start}-reset`, at: headers.get(`${start}-reset`) },
    // The threshold that was passed may be one of warning, such as 0.75.
    exhausted:
      headers.get(`${start}-status`)?.toLowerCase() === 'rejected' ||
      surpassed === 'true' ||
      (plainNumber(surpassed) ?? 0) >= 1,
    scope: name.includes('_') ? family(reading, name) : ALL,
  });
}

/** `7d_oi` is the week of one family of models; which the header does not say. */
const family = (reading: Reading, name: string): Scope => ({ kind: 'model', name: reading.model ?? name });

/** The usage page: the same windows, in percent where the headers have fractions. */
function ofUsage(reading: Reading, value: unknown): Snapshot[] {
  return Object.entries({ five_hour: null, seven_day: null, seven_day_opus: 'opus', seven_day_sonnet: 'sonnet' })
    .map(([name, model]) => {
      const window = at(value, name);
      if (!isObject(window)) return null;
      const used = at(window, 'utilization');
      return snapshotOf(reading, {
        name,
        lengthMs: name === 'five_hour' ? LENGTHS.five_hour! : LENGTHS.seven_day!,
        used: usedOf(reading, `${name}.utilization`, used, 'percent'),
        scale: 'percent',
        reset: { field: `${name}.resets_at`, at: at(window, 'resets_at') },
        scope: model === null ? ALL : { kind: 'model', name: model },
      });
    })
    .filter((snapshot) => snapshot !== null);
}
