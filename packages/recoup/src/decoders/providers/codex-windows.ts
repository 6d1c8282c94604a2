// The windows of Codex: headers of any limit, the event `codex.rate_limits`, the body of a 429, and the usage page.
import { ALL, type Scope, type Snapshot } from '../facts/facts.ts';
import { secondsMs } from '../parsing/durations.ts';
import { at, isObject, listOf, textOf } from '../parsing/json.ts';
import { usedOf } from '../parsing/percent.ts';
import type { Reading } from '../parsing/reading.ts';
import { lengthOf, resetOf, snapshotOf } from '../parsing/windows.ts';

const MINUTE = 60_000;
const SECOND = 1000;
const USAGE_LIMIT = 'usage_limit_reached';

export function codexWindows(reading: Reading): Snapshot[] {
  return [...ofHeaders(reading), ...reading.body.values.flatMap((value) => ofBody(reading, value))];
}

const SLOT = /^x-([a-z0-9][\w-]{0,80})-(primary|secondary)-(?:used-percent|reset-at|reset-after-seconds)$/;
const OWN = 'codex';

/** `x-codex-primary-used-percent`, and the same for every further limit: `x-LIMIT-primary-…` with `x-LIMIT-limit-name`. */
function ofHeaders(reading: Reading): Snapshot[] {
  const { headers } = reading;
  const slots = new Map<string, readonly [string, string]>();
  // In one order, whatever that of the headers.
  for (const name of [...headers.keys()].sort()) {
    const found = SLOT.exec(name);
    if (found !== null && slots.size < 32) slots.set(`${found[1]}-${found[2]}`, [found[1]!, found[2]!]);
  }
  const ownFirst = [...slots.values()].sort(([a], [b]) => Number(b === OWN) - Number(a === OWN));
  const snapshots = ownFirst.map(([limit, slot]) => {
    const start = `x-${limit}-${slot}`;
    const title = headers.get(`x-${limit}-limit-name`) ?? limit;
    const used = `${start}-used-percent`;
    return snapshotOf(reading, {
      name: limit === OWN ? slot : `${title.slice(0, 80)} ${slot}`,
      lengthMs: lengthOf(headers.get(`${start}-window-minutes`), MINUTE),
      used: usedOf(reading, used, headers.get(used), 'percent'),
      scale: 'percent',
      reset: {
        field: `${start}-reset-at`,
        at: headers.get(`${start}-reset-at`),
        afterMs: secondsMs(headers.get(`${start}-reset-after-seconds`)),
      },
      scope: limit === OWN ? ALL : { kind: 'model', name: reading.model ?? title.slice(0, 80) },
    });
  });
  return snapshots.filter((snapshot) => snapshot !== null);
}

function ofBody(reading: Reading, value: unknown): Snapshot[] {
  const further = listOf(at(value, 'additional_rate_limits')).flatMap((limit) => {
    const name = textOf(at(limit, 'limit_name')) ?? 'additional';
    return pair(reading, at(limit, 'rate_limit'), `${name} `, { kind: 'model', name: reading.model ?? name });
  });
  return [
    ...pair(reading, at(value, 'rate_limits'), '', ALL),
    ...pair(reading, at(value, 'rate_limit'), '', ALL),
    ...further,
  ];
}

function pair(reading: Reading, limits: unknown, start: string, scope: Scope): Snapshot[] {
  if (!isObject(limits)) return [];
  return ['primary', 'secondary']
    .map((slot) => {
      const window = at(limits, slot) ?? at(limits, `${slot}_window`);
      if (!isObject(window)) return null;
      const minutes = at(window, 'window_minutes');
      const field = `${slot}.reset_at`;
      return snapshotOf(reading, {
        name: `${start}${slot}`,
        lengthMs: lengthOf(minutes, MINUTE) ?? lengthOf(at(window, 'limit_window_seconds'), SECOND),
        used: usedOf(reading, `${slot}.used_percent`, at(window, 'used_percent'), 'percent'),
        scale: 'percent',
        reset: {
          field,
          at: at(window, 'reset_at') ?? at(window, 'resets_at'),
          afterMs: secondsMs(at(window, 'reset_after_seconds') ?? at(window, 'resets_in_seconds')),
        },
        scope,
      });
    })
    .filter((snapshot) => snapshot !== null);
}

/** The reset of `usage_limit_reached`: of a window that is used up and that the body does not name. */
export function codexResetMs(reading: Reading): number | null {
  const errors = reading.body.values.map((value) => at(value, 'error'));
  const error = errors.find((one) => at(one, 'type') === USAGE_LIMIT || at(one, 'code') === USAGE_LIMIT);
  const afterMs = secondsMs(at(error, 'resets_in_seconds'));
  return resetOf(reading, { field: 'error.resets_at', at: at(error, 'resets_at'), afterMs }, null);
}
