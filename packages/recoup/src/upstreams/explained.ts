// What a selection and an explanation say to callers: every check that fails, and when an upstream or a pool is expected back.

import type { CapacityOutcome } from '../outcomes.ts';
import type { Check, ExplainedRow } from './queries.ts';

/** One reason why an upstream is not used now, with what a person can do about it. */
export interface Failing extends Omit<Check, 'until'> {
  /** When it is expected to end: an estimate. Null: not by time. */
  until: Date | null;
}
export interface Explained {
  upstream: string;
  provider: string;
  usable: boolean;
  /** Every failing check, not only the first. */
  failing: Failing[];
  /** When it is expected back: an estimate; null where a person has to act first. */
  expectedRecoveryAt: Date | null;
  slotsOut: number;
  maxConcurrency: number | null;
}
export interface Selected {
  outcome: CapacityOutcome<'upstream.select'>;
  upstream: string | null;
  provider: string | null;
  credentialRef: string | null;
  lease: string | null;
  leaseUntil: Date | null;
  /** Of `none`: when to ask again, at most 300 s; and when the pool is expected back: an estimate. */
  retryAfterMs: number | null;
  expectedRecoveryAt: Date | null;
}

const MAX_RETRY_MS = 300_000;
/** Null where no time ends it. */
export const instant = (text: string | null) => (text === null || text === 'infinity' ? null : new Date(text));

const NO_QUOTA = { limit: null, unit: null, used: null, amount: null };
const NO_BLOCK = { block: null, kind: null, source: null, policy: null, reason: null };

export function explained({
  upstream,
  provider,
  status,
  slots_out,
  max_concurrency,
  now,
  ...row
}: ExplainedRow): Explained {
  const failing: Failing[] = row.checks.map((one) => ({ ...one, ...NO_QUOTA, until: instant(one.until) }));
  const nextStep = 'wait for its next window, set a higher amount, or reset it';
  for (const one of row.quotas)
    failing.push({ ...NO_BLOCK, ...one, check: 'quota', until: instant(one.until), nextStep });
  const rest = { ...NO_BLOCK, ...NO_QUOTA, subject: null, scope: null, until: null };
  if (status !== 'on')
    failing.unshift({ check: status, ...rest, nextStep: status === 'retired' ? 'register another' : 'switch it on' });
  if (max_concurrency !== null && slots_out >= max_concurrency)
    failing.push({ check: 'slots', ...rest, nextStep: 'wait for a slot' });
  const ends = failing.filter(({ check }) => check === 'blocked' || check === 'quota').map(({ until }) => until);
  const needsPerson = status !== 'on' || ends.includes(null);
  const at = needsPerson ? null : new Date(Math.max(Date.parse(now), ...ends.map((end) => end!.getTime())));
  return {
    upstream,
    provider,
    usable: failing.length === 0,
    failing,
    expectedRecoveryAt: at,
    slotsOut: slots_out,
    maxConcurrency: max_concurrency,
  };
}

/** `now`: the database's clock when they were looked at. */
export function none(all: readonly Explained[], now: number): Selected {
  const ends = all.flatMap((one) => (one.expectedRecoveryAt === null ? [] : [one.expectedRecoveryAt.getTime()]));
  const earliest = ends.length === 0 ? null : Math.min(...ends);
  const wait = earliest === null ? MAX_RETRY_MS : Math.min(Math.max(earliest - now, 1000), MAX_RETRY_MS);
  const nothing = { upstream: null, provider: null, credentialRef: null, lease: null, leaseUntil: null };
  return {
    outcome: 'none',
    ...nothing,
    retryAfterMs: wait,
    expectedRecoveryAt: earliest === null ? null : new Date(earliest),
  };
}
