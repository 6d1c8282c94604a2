// What callers may say of a job, and what comes back.
import type { Refusal } from '../errors.ts';
import type { JobState, Outcome, Verdict } from '../outcomes.ts';
import type { ProviderAnswer } from '../upstreams/answer.ts';
import type { Reported } from '../upstreams/reporting.ts';
import type { Used } from '../windows/inputs.ts';
import type { Job } from './job.ts';
import type { LeasedRow, LeasedUpstream } from './lease.ts';
import type { PoolOut } from './pooled-claims.ts';

export interface Submit {
  wallet: string;
  /** The job's id and idempotency key: once per wallet, for ever. */
  job: string;
  /** Null: you deliver it through a queue of your own. */
  queue: string | null;
  /** What it is charged, 0 to 2^53 − 1. */
  price: number;
  /** JSON for the worker, at most 1 MiB. */
  payload?: unknown;
  /** 0 first … 9 last; 5 unless set. */
  priority?: number;
  /** Not before: an instant, or a delay in ms. */
  notBefore?: Date;
  delayMs?: number;
  maxFailures?: number;
  labels?: Record<string, string>;
  /** Only without a queue: when it counts as failed unless it is heard of, in ms. */
  deadlineMs?: number;
  /** Only without a queue: the upstream's reference, if it is known already. */
  upstreamRef?: string;
  /** The trace it belongs to, as W3C's `traceparent`; workers get it with the job. Not compared at a repeat. */
  traceparent?: string;
}

/** Names one job. */
export interface JobKey {
  wallet: string;
  job: string;
}
/** Names one attempt of a job. */
export interface AttemptKey extends JobKey {
  attempt: number;
}

export interface Fail extends JobKey {
  /** The attempt that failed; only a job without a queue needs none. */
  attempt?: number;
  /** What the report is worth; `presumed` unless set. */
  verdict?: Verdict;
  /** False: straight to the dead letters. */
  retryable?: boolean;
  /** The upstream's Retry-After in ms: wins over the back-off when it is later, capped by the queue. */
  retryAfterMs?: number;
  /** Why, for people; cut at 2,000 characters. */
  reason?: string;
  upstreamRef?: string;
}

export interface Succeed extends JobKey {
  attempt?: number;
  /** JSON, at most 1 MiB. */
  result?: unknown;
  /** What the job turned out to be worth: settles the difference to its price. */
  finalPrice?: number;
  upstreamRef?: string;
}

export interface Cancel extends JobKey {
  /** What the part already delivered is worth. */
  keep?: number;
  reason?: string;
}

export interface Lease {
  queue: string;
  /** At most this many jobs, 1 to 500; 1 unless set. */
  count?: number;
  /** Who works: an id for people. */
  worker?: string;
  /** The lease's length; the queue's unless set. */
  leaseMs?: number;
  /** Makes a lost answer repeatable: the same id gives the same jobs and attempts. */
  requestId?: string;
  /** Where the queue has a pool: what the upstream will be used for. Blocks and limits of another model or capability do not count. */
  model?: string;
  capability?: string;
}

/** What `claim` found. */
export interface Claimed {
  jobs: LeasedJob[];
  /** Fewer than were asked for, since no upstream is usable: why, and when to ask again. Null: nothing more is due. */
  out: PoolOut | null;
}

/** A job in a worker's hands. */
export interface LeasedJob {
  job: Job;
  payload: unknown;
  /** Set where an earlier attempt failed: presumed means that the upstream may still have done the work. */
  earlier: LeasedRow['earlier'];
  /** The upstream to run it on, where its queue has a pool: its slot is kept and given back with the job. */
  upstream: LeasedUpstream | null;
}

/** What the provider answered to an attempt. */
export interface Answer extends AttemptKey {
  /** The answer as it came: decoded, it says whether the job is done, has failed, or goes back. */
  answer: ProviderAnswer;
  /** Of a success: JSON, at most 1 MiB. */
  result?: unknown;
  /** Of a success: what the job turned out to be worth. */
  finalPrice?: number;
  upstreamRef?: string;
  /** What was used, by unit, booked once per attempt on the limits of its upstream; one request unless it says how many. */
  use?: Used;
}

/** What an answer came to. */
export interface Answered {
  /** What it meant: the job is done; failed for good; or its upstream failed it, and it goes back to its place. */
  means: 'success' | 'failure' | 'release';
  outcome: Outcome<'job.succeed'> | Outcome<'job.fail'> | Outcome<'job.release'>;
  /** Of a job that is queued again: the earliest instant of its next attempt. */
  notBefore: Date | null;
  /** Whether this call booked the refund. */
  refunded: boolean;
  /** Of a success: whether a refund was taken back. */
  reclaimed: boolean;
  /** What it said of the upstream. */
  upstream: Reported;
}

export interface Extend extends AttemptKey {
  leaseMs?: number;
  upstreamRef?: string;
}
export interface HandOver extends AttemptKey {
  deadlineMs?: number;
  upstreamRef?: string;
}
export interface Release extends AttemptKey {
  delayMs?: number;
  reason?: string;
  upstreamRef?: string;
}
export interface Submitted {
  outcome: Outcome<'job.submit'>;
  job: Job;
  /** The charge: its seq and the balance right after it; the same for every repeat. */
  seq: number;
  balance: number;
}
export interface Failed {
  outcome: Outcome<'job.fail'>;
  state: JobState;
  attempt: number;
  failures: number;
  notBefore: Date | null;
  /** Whether this call booked the refund. */
  refunded: boolean;
}
export interface Succeeded {
  outcome: Outcome<'job.succeed'>;
  /** The attempt that counts as the successful one. */
  succeededAttempt: number;
  succeededAt: Date;
  /** Whether a refund was taken back, by this call or an earlier one. */
  reclaimed: boolean;
  finalPrice: number | null;
}
export interface Settled {
  outcome: Outcome<'job.settle'>;
  finalPrice: number;
  /** What the settle entry moved. */
  amount: number;
}
export interface Canceled {
  outcome: Outcome<'job.cancel'>;
  state: JobState;
  /** Whether this call booked the refund. */
  refunded: boolean;
  kept: number | null;
}

/** One answer per item of a batch: what happened, or why not. */
export type Each<T> = (T | Refusal)[];
