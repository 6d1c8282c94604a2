// What reads say of upstreams, as callers see it: usable or every check that fails, when one is back, when a pool is.
import { dateOr } from '../db/instants.ts';
import type { Estimate, SpreadOf } from './estimates.ts';
import type { Check, ExplainedRow } from './queries.ts';

/** One reason why an upstream is not used now, with what a person can do about it. */
export interface Failing extends Omit<Check, 'until'> {
  /** When it is expected to end: an estimate. Null: not by time. */
  until: Date | null;
}

/** An upstream as it was registered, and whether it may be used now. */
export interface Explained
  extends Omit<ExplainedRow, 'now' | 'checks' | 'quotas' | 'tightUntil' | 'lastUsedAt' | 'registeredAt'> {
  usable: boolean;
  /** Every failing check, not only the first. */
  failing: Failing[];
  /** When it is expected back: an estimate; null where a person has to act first. */
  expectedRecoveryAt: Date | null;
  /** What that estimate rests on, of what ends last; null where nothing has a time to wait for. */
  estimate: Estimate | null;
  /** Its provider says that little is left until then: it comes after the others of its priority. */
  tightUntil: Date | null;
  lastUsedAt: Date | null;
  registeredAt: Date;
}

/** When it is worth asking again. */
export interface WhenBack {
  /** At most 300 s. */
  retryAfterMs: number;
  /** When the first one is expected: an estimate; null where every one needs a person. */
  expectedRecoveryAt: Date | null;
  /** What that estimate rests on. */
  estimate: Estimate | null;
}

const MAX_RETRY_MS = 300_000;

/** An instant of the database; never is null. */
export const instant = (text: string | null): Date | null => dateOr(text === 'infinity' ? null : text);

/** What ends with time. */
const WAITS: ReadonlySet<string> = new Set(['blocked', 'gated', 'quota']);

const NO_QUOTA = { limit: null, unit: null, used: null, amount: null };
const NO_BLOCK = { block: null, kind: null, source: null, policy: null, revision: null, reason: null };
const REST = { ...NO_BLOCK, ...NO_QUOTA, subject: null, scope: null, until: null };

export function explained(row: ExplainedRow, spreadOf: SpreadOf): Explained {
  const { status, slotsOut, maxConcurrency, checks, quotas, now, tightUntil, lastUsedAt, registeredAt, ...settings } =
    row;
  const failing: Failing[] = checks.map((one) => ({ ...one, ...NO_QUOTA, until: instant(one.until) }));
  const nextStep = 'wait for its next window, set a higher amount, or reset it';
  for (const one of quotas) failing.push({ ...NO_BLOCK, ...one, check: 'quota', until: instant(one.until), nextStep });
  if (status !== 'on')
    failing.unshift({ check: status, ...REST, nextStep: status === 'retired' ? 'register another' : 'switch it on' });
  if (maxConcurrency !== null && slotsOut >= maxConcurrency)
    failing.push({ check: 'slots', ...REST, nextStep: 'wait for a slot' });
  const ends = failing.filter(({ check }) => WAITS.has(check)).map(({ until }) => until);
  const needsPerson = status !== 'on' || ends.includes(null);
  const at = needsPerson ? null : new Date(Math.max(Date.parse(now), ...ends.map((end) => end!.getTime())));
  return {
    ...settings,
    status,
    maxConcurrency,
    slotsOut,
    usable: failing.length === 0,
    failing,
    expectedRecoveryAt: at,
    estimate: at === null ? null : estimateOf(row.provider, failing, spreadOf),
    tightUntil: instant(tightUntil),
    lastUsedAt: instant(lastUsedAt),
    registeredAt: new Date(registeredAt),
  };
}

/** Of what ends last. What four of five did is the range; none of them comes before now. */
function estimateOf(provider: string, failing: readonly Failing[], spreadOf: SpreadOf): Estimate | null {
  const timed = failing.filter(({ check, until }) => until !== null && WAITS.has(check));
  const last = timed.sort((a, b) => b.until!.getTime() - a.until!.getTime())[0];
  if (!last) return null;
  const { until: at, revision, kind } = last;
  if (last.check === 'quota') return { at: at!, source: 'window', revision, range: null };
  const source = last.source as Estimate['source'];
  const spread = spreadOf(provider, kind!, source);
  const range = spread && { from: new Date(at!.getTime() + spread.low), to: new Date(at!.getTime() + spread.high) };
  return { at: at!, source, revision, range: range ?? null };
}

/** Of upstreams that are all out. `now`: the database's clock when they were looked at. */
export function whenBack(all: readonly Pick<Explained, 'expectedRecoveryAt' | 'estimate'>[], now: number): WhenBack {
  const timed = all.filter((one) => one.expectedRecoveryAt !== null);
  const first = timed.sort((a, b) => a.expectedRecoveryAt!.getTime() - b.expectedRecoveryAt!.getTime())[0];
  const earliest = first?.expectedRecoveryAt?.getTime() ?? null;
  const wait = earliest === null ? MAX_RETRY_MS : Math.min(Math.max(earliest - now, 1000), MAX_RETRY_MS);
  return {
    retryAfterMs: wait,
    expectedRecoveryAt: first?.expectedRecoveryAt ?? null,
    estimate: first?.estimate ?? null,
  };
}
