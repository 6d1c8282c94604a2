// The job as callers see it: its row in JSON, and that JSON decoded.
import type { JobState, Verdict } from '../outcomes.ts';

/** A job. Credits are integers of the wallet's smallest unit; instants are Dates (microseconds are cut off). */
export interface Job {
  wallet: string;
  id: string;
  /** Null: the caller has a queue of its own, this job is never leased. */
  queue: string | null;
  state: JobState;
  price: number;
  /** What it turned out to be worth, once settled. */
  finalPrice: number | null;
  /** 0 runs first, 9 last. */
  priority: number;
  refundOn: 'failure' | 'final';
  /** Number of the latest attempt; 0 before the first. The fencing token. */
  attempt: number;
  /** Failures counted since submit or the last redrive. */
  failures: number;
  maxFailures: number;
  releases: number;
  /** The latest counted failure: what it is worth, and why. */
  verdict: Verdict | null;
  reason: string | null;
  worker: string | null;
  /** The upstream of the latest attempt, where it was leased with one. */
  upstream: string | null;
  upstreamRef: string | null;
  labels: Record<string, string> | null;
  /** The trace it was submitted in (W3C). */
  traceparent: string | null;
  succeededAttempt: number | null;
  submittedAt: Date;
  startedAt: Date | null;
  notBefore: Date | null;
  leaseUntil: Date | null;
  deadlineAt: Date | null;
  deadAt: Date | null;
  refundedAt: Date | null;
  succeededAt: Date | null;
  reclaimedAt: Date | null;
  settledAt: Date | null;
  canceledAt: Date | null;
}

/** Every field with its SQL on the row `j`: the one list for encoding and decoding. */
const FIELDS = {
  wallet: 'wallet_id',
  id: 'id',
  queue: 'queue',
  state: 'state',
  price: 'price',
  finalPrice: 'final_price',
  priority: 'priority',
  refundOn: 'refund_on',
  attempt: 'attempt',
  failures: 'failures',
  maxFailures: 'max_failures',
  releases: 'releases',
  verdict: 'verdict',
  reason: 'reason',
  worker: 'worker',
  upstream: 'upstream_id',
  upstreamRef: 'upstream_ref',
  labels: 'labels',
  traceparent: 'traceparent',
  succeededAttempt: 'succeeded_attempt',
  submittedAt: 'submitted_at',
  startedAt: 'started_at',
  notBefore: 'not_before',
  leaseUntil: 'lease_until',
  deadlineAt: 'deadline_at',
  deadAt: 'dead_at',
  refundedAt: 'refunded_at',
  succeededAt: 'succeeded_at',
  reclaimedAt: 'reclaimed_at',
  settledAt: 'settled_at',
  canceledAt: 'canceled_at',
} as const satisfies Record<keyof Job, string>;

const NAMES = Object.keys(FIELDS) as (keyof Job)[];

/** A job as it comes from the database: its fields in the order of the list, instants as text. */
export type JobRow = (string | number | null | Record<string, string>)[];

/** SQL for a JobRow of the row `j`. An array, not an object: half the bytes and half the work on both sides. */
export const jobJson = (j: string) => `json_build_array(${NAMES.map((name) => `${j}.${FIELDS[name]}`).join(', ')})`;

const IS_INSTANT = NAMES.map((name) => name.endsWith('At') || name === 'notBefore' || name === 'leaseUntil');
/** All fields, so that a decoded job has its shape from the start. */
const EMPTY = Object.fromEntries(NAMES.map((name) => [name, null]));

/** A JobRow as a Job. */
export function decodeJob(row: JobRow): Job {
  const job: Record<string, unknown> = { ...EMPTY };
  for (let i = 0; i < NAMES.length; i++) {
    const value = row[i] ?? null;
    job[NAMES[i]!] = IS_INSTANT[i] ? instant(value) : value;
  }
  return job as unknown as Job;
}

const instant = (value: JobRow[number]) => (value === null ? null : new Date(value as string));
