// Windows of quotas: classed by length and not by slot, their resets only where they are plausible.
import { ALL, type Scope, type Snapshot, type WindowKind } from '../facts/facts.ts';
import { plainNumber } from './durations.ts';
import { instantMs } from './instants.ts';
import type { Reading } from './reading.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** The longest a reset may be ahead where the length of its window is not known. */
const MAX_UNKNOWN_MS = 32 * DAY;
/** What has just passed says that the window is fresh, and nothing is wrong with it. */
const JUST_PASSED_MS = 60_000;

export function kindOf(lengthMs: number | null): WindowKind {
  if (lengthMs === null) return 'unknown';
  if (lengthMs <= 6 * HOUR) return 'short';
  if (lengthMs >= 20 * HOUR && lengthMs <= 28 * HOUR) return 'daily';
  if (lengthMs >= 6 * DAY && lengthMs <= 8 * DAY) return 'weekly';
  return lengthMs >= 28 * DAY ? 'monthly' : 'other';
}

/** A length in ms from a number of units; null where it is none. */
export function lengthOf(value: unknown, unitMs: number): number | null {
  const number = plainNumber(value);
  return number !== null && number > 0 && number * unitMs <= 400 * DAY ? number * unitMs : null;
}

/** A reset in ms that is after now and at most 1.2 lengths ahead; otherwise null, and noted. */
export function plausibleReset(
  reading: Reading,
  field: string,
  resetMs: number,
  lengthMs: number | null,
  shown: unknown = resetMs,
): number | null {
  const ahead = resetMs - reading.now;
  const most = lengthMs === null ? MAX_UNKNOWN_MS : Math.min(1.2 * lengthMs, 1.2 * MAX_UNKNOWN_MS);
  if (ahead > 0 && ahead <= most) return resetMs;
  if (ahead > 0 || ahead < -JUST_PASSED_MS) reading.drop(field, shown, 'implausible_reset');
  return null;
}

/** Where a reset stands: at an instant of the provider's clock, or so long from now. */
export interface ResetAt {
  field: string;
  at?: unknown;
  afterMs?: number | null;
}

/** The reset by its instant, or where that is not plausible by its distance. */
export function resetOf(reading: Reading, { field, at, afterMs }: ResetAt, lengthMs: number | null): number | null {
  if (at !== undefined && at !== null && at !== '') {
    const said = instantMs(at);
    const found = said === null ? null : plausibleReset(reading, field, said - reading.skewMs, lengthMs, at);
    if (said === null) reading.drop(field, at, isZero(at) ? 'not_positive' : 'not_understood');
    if (found !== null) return found;
  }
  if (afterMs === undefined || afterMs === null) return null;
  return afterMs <= 0 ? null : plausibleReset(reading, field, reading.now + afterMs, lengthMs, `${afterMs} ms`);
}

const isZero = (value: unknown) => (plainNumber(value) ?? 1) <= 0;

interface Window {
  name: string;
  lengthMs: number | null;
  used: number | null;
  scale: Snapshot['scale'];
  reset: ResetAt;
  /** Besides 100 % used: the provider says so. */
  exhausted?: boolean;
  scope?: Scope;
}

/** A window as a snapshot; null where nothing is said, or where it only keeps a place: 0 % used and a reset at 0, or after 0. */
export function snapshotOf(reading: Reading, window: Window): Snapshot | null {
  const { name, lengthMs, used, scale, reset, exhausted = false, scope = ALL } = window;
  const atNothing = plainNumber(reset.at) === 0 || ((reset.at ?? null) === null && reset.afterMs === 0);
  if (!exhausted && (used ?? 0) === 0 && atNothing) {
    reading.drop(reset.field, reset.at ?? '0', 'placeholder_window');
    return null;
  }
  const resetMs = resetOf(reading, reset, lengthMs);
  if (used === null && resetMs === null && !exhausted) return null;
  return {
    name,
    kind: kindOf(lengthMs),
    lengthMs,
    used,
    scale: used === null ? null : scale,
    resetsAt: resetMs === null ? null : new Date(resetMs),
    observedAt: new Date(reading.now),
    exhausted: exhausted || (used !== null && used >= 1),
    scope,
  };
}

/** The latest reset of the windows that are exhausted, in ms: the others hold nothing up. */
export function announcedMs(snapshots: readonly Snapshot[]): number | null {
  const resets = snapshots.flatMap(({ exhausted, resetsAt }) => (exhausted && resetsAt ? [resetsAt.getTime()] : []));
  return resets.length === 0 ? null : Math.max(...resets);
}
