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
  upstreamRef: string | null;
  labels: Record<string, string> | null;
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

const INSTANTS = [
  'submittedAt',
  'startedAt',
  'notBefore',
  'leaseUntil',
  'deadlineAt',
  'deadAt',
  'refundedAt',
  'succeededAt',
  'reclaimedAt',
  'settledAt',
  'canceledAt',
] as const;

/** The job as it comes from the database: instants still text. */
export type JobRow = Omit<Job, (typeof INSTANTS)[number]> & Record<(typeof INSTANTS)[number], string | null>;

/** SQL for a JobRow of the row `j`. */
export const jobJson = (j: string) => `json_build_object('wallet', ${j}.wallet_id, 'id', ${j}.id, 'queue', ${j}.queue,
  'state', ${j}.state, 'price', ${j}.price, 'finalPrice', ${j}.final_price, 'priority', ${j}.priority, 'refundOn', ${j}.refund_on,
  'attempt', ${j}.attempt, 'failures', ${j}.failures, 'maxFailures', ${j}.max_failures, 'releases', ${j}.releases,
  'verdict', ${j}.verdict, 'reason', ${j}.reason, 'worker', ${j}.worker, 'upstreamRef', ${j}.upstream_ref, 'labels', ${j}.labels,
  'succeededAttempt', ${j}.succeeded_attempt, 'submittedAt', ${j}.submitted_at, 'startedAt', ${j}.started_at,
  'notBefore', ${j}.not_before, 'leaseUntil', ${j}.lease_until, 'deadlineAt', ${j}.deadline_at, 'deadAt', ${j}.dead_at,
  'refundedAt', ${j}.refunded_at, 'succeededAt', ${j}.succeeded_at, 'reclaimedAt', ${j}.reclaimed_at,
  'settledAt', ${j}.settled_at, 'canceledAt', ${j}.canceled_at)`;

/** A JobRow with its instants as Dates. */
export function decodeJob(row: JobRow): Job {
  const job = { ...row } as Record<string, unknown>;
  for (const name of INSTANTS) job[name] = row[name] === null ? null : new Date(row[name] as string);
  return job as unknown as Job;
}
