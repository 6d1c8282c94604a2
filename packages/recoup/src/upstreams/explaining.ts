// What is seen of upstreams, in the words of callers: why each is usable or not, when a pool is back, what happened.
import type { CapacityOutcome } from '../outcomes.ts';
import type { Check, ExplainedRow, HistoryRow, SnapshotRow } from './queries.ts';
import { instant } from './reporting.ts';

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
export interface BlockEvent extends Omit<HistoryRow, 'at' | 'until' | 'evidenceAt'> {
  at: Date;
  until: Date | null;
  evidenceAt: Date | null;
}

/** The latest that was observed of a window of a provider's own quota. */
export interface KnownWindow extends Omit<SnapshotRow, 'resetsAt' | 'observedAt'> {
  resetsAt: Date | null;
  observedAt: Date;
}

const MAX_RETRY_MS = 300_000;

export function explained({
  upstream,
  provider,
  status,
  slots_out,
  max_concurrency,
  checks,
  now,
}: ExplainedRow): Explained {
  const failing: Failing[] = checks.map((one) => ({ ...one, until: instant(one.until) }));
  const rest = {
    block: null,
    kind: null,
    source: null,
    policy: null,
    subject: null,
    scope: null,
    until: null,
    reason: null,
  };
  if (status !== 'on')
    failing.unshift({ check: status, ...rest, nextStep: status === 'retired' ? 'register another' : 'switch it on' });
  if (max_concurrency !== null && slots_out >= max_concurrency)
    failing.push({ check: 'slots', ...rest, nextStep: 'wait for a slot' });
  const blocks = failing.filter((one) => one.check === 'blocked');
  const ends = blocks.map((one) => one.until);
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

export const happened = (row: HistoryRow): BlockEvent => ({
  ...row,
  at: new Date(row.at),
  until: instant(row.until),
  evidenceAt: instant(row.evidenceAt),
});

export const known = (row: SnapshotRow): KnownWindow => ({
  ...row,
  resetsAt: instant(row.resetsAt),
  observedAt: new Date(row.observedAt),
});
