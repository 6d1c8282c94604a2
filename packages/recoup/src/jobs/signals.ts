// What callers may say of a job, checked, and what comes back.
import type { Refusal } from '../errors.ts';
import { InvalidInput } from '../errors.ts';
import * as check from '../input.ts';
import type { JobState, Outcome, Verdict } from '../outcomes.ts';
import type { Job } from './job.ts';
import type { LeasedRow } from './lease.ts';

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
}

/** A job in a worker's hands. */
export interface LeasedJob {
  job: Job;
  payload: unknown;
  /** Set where an earlier attempt failed: presumed means that the upstream may still have done the work. */
  earlier: LeasedRow['earlier'];
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

export const MAX_JSON = 1_048_576;

/** What is wrong with a payload or result, in words; null where it can be kept as it is. For who checks before he sends. */
export function jsonProblem(value: unknown): string | null {
  try {
    check.json('value', value, MAX_JSON);
    return null;
  } catch (error) {
    return (error as InvalidInput).details.rule as string;
  }
}
const MAX_REASON = 2000;
const MAX_ATTEMPT = 2_147_483_647;

const ONLY_WITH_QUEUE = ['priority', 'notBefore', 'delayMs', 'maxFailures'] as const;
const ONLY_WITHOUT = ['deadlineMs', 'upstreamRef'] as const;
const ALWAYS = ['wallet', 'job', 'queue', 'price', 'payload', 'labels', 'traceparent'];
const SUBMIT = [...ALWAYS, ...ONLY_WITH_QUEUE, ...ONLY_WITHOUT];

export const keyOf = (input: JobKey) => ({
  wallet_id: check.id('wallet', input.wallet),
  id: check.id('job', input.job),
});
/** The key alone, where nothing else belongs to the call. */
export function onlyKey(input: JobKey) {
  check.onlyFields('job', input, ['wallet', 'job']);
  return keyOf(input);
}
/** The key with the attempt that the caller saw, if he says so. */
export function seenKey(input: JobKey & { attempt?: number }) {
  check.onlyFields('job', input, ['wallet', 'job', 'attempt']);
  return { ...keyOf(input), n: check.optionalInteger('attempt', input.attempt, 0, MAX_ATTEMPT) };
}
export const attemptOf = (input: AttemptKey) => ({
  ...keyOf(input),
  n: check.integer('attempt', input.attempt, 1, MAX_ATTEMPT),
});

/** `traceparent` is where the caller is, for a job that names none. */
export function submitInput(input: Submit, traceparent?: string) {
  check.onlyFields('submit', input, SUBMIT);
  const queue = input.queue === null ? null : check.id('queue', input.queue);
  if (queue === '*') throw new InvalidInput('queue', '"*" names the settings of all queues, not a queue');
  for (const field of queue === null ? ONLY_WITH_QUEUE : ONLY_WITHOUT) {
    if ((input[field] ?? null) !== null) {
      throw new InvalidInput(
        field,
        queue === null ? 'only a job with a queue has it' : 'only a job without a queue has it at submit',
      );
    }
  }
  if ((input.notBefore ?? null) !== null && (input.delayMs ?? null) !== null) {
    throw new InvalidInput('delayMs', 'give notBefore or delayMs, not both');
  }
  const payload = check.json('payload', input.payload, MAX_JSON);
  return {
    ...keyOf(input),
    queue,
    price: check.amount('price', input.price),
    priority: check.optionalInteger('priority', input.priority, 0, 9),
    max_failures: check.optionalInteger('maxFailures', input.maxFailures, 1, 1_000_000),
    delay_ms: check.duration('delayMs', input.delayMs),
    not_before: check.instant('notBefore', input.notBefore),
    deadline_ms: check.duration('deadlineMs', input.deadlineMs, 1),
    upstream_ref: check.optionalId('upstreamRef', input.upstreamRef),
    labels: check.labels('labels', input.labels),
    payload: payload.value,
    payload_bytes: payload.bytes,
    traceparent: check.traceparent('traceparent', input.traceparent) ?? traceparent,
  };
}

export function failInput(input: Fail) {
  check.onlyFields('fail', input, [
    'wallet',
    'job',
    'attempt',
    'verdict',
    'retryable',
    'retryAfterMs',
    'reason',
    'upstreamRef',
  ]);
  return {
    ...keyOf(input),
    n: check.optionalInteger('attempt', input.attempt, 1, MAX_ATTEMPT),
    new_verdict: check.oneOf('verdict', input.verdict ?? 'presumed', ['presumed', 'definitive']),
    retryable: check.flag('retryable', input.retryable, true),
    retry_after_ms: check.duration('retryAfterMs', input.retryAfterMs),
    new_reason: check.text('reason', input.reason, MAX_REASON, 'cut'),
    new_ref: check.optionalId('upstreamRef', input.upstreamRef),
  };
}

export function succeedInput(input: Succeed) {
  check.onlyFields('succeed', input, ['wallet', 'job', 'attempt', 'result', 'finalPrice', 'upstreamRef']);
  return {
    ...keyOf(input),
    n: check.optionalInteger('attempt', input.attempt, 1, MAX_ATTEMPT),
    new_final_price: check.optionalInteger('finalPrice', input.finalPrice, 0, check.MAX_AMOUNT),
    new_result: check.json('result', input.result, MAX_JSON).value,
    new_ref: check.optionalId('upstreamRef', input.upstreamRef),
  };
}

export function cancelInput(input: Cancel) {
  check.onlyFields('cancel', input, ['wallet', 'job', 'keep', 'reason']);
  return {
    ...keyOf(input),
    kept: check.optionalInteger('keep', input.keep, 0, check.MAX_AMOUNT),
    new_reason: check.text('reason', input.reason, MAX_REASON, 'cut'),
  };
}

export function leaseInput(input: Lease) {
  check.onlyFields('lease', input, ['queue', 'count', 'worker', 'leaseMs', 'requestId']);
  return {
    queue: check.id('queue', input.queue),
    count: check.optionalInteger('count', input.count, 1, 500) ?? 1,
    worker: check.optionalId('worker', input.worker),
    lease_ms: leaseMs(input.leaseMs),
    request_id: check.optionalId('requestId', input.requestId),
  };
}

export function extendInput(input: Extend) {
  check.onlyFields('extend', input, ['wallet', 'job', 'attempt', 'leaseMs', 'upstreamRef']);
  const new_ref = check.optionalId('upstreamRef', input.upstreamRef);
  return { ...attemptOf(input), lease_ms: leaseMs(input.leaseMs), new_ref };
}

export function handOverInput(input: HandOver) {
  check.onlyFields('handOver', input, ['wallet', 'job', 'attempt', 'deadlineMs', 'upstreamRef']);
  return {
    ...attemptOf(input),
    deadline_ms: check.duration('deadlineMs', input.deadlineMs, 1) ?? 3_600_000,
    new_ref: check.optionalId('upstreamRef', input.upstreamRef),
  };
}

export function releaseInput(input: Release) {
  check.onlyFields('release', input, ['wallet', 'job', 'attempt', 'delayMs', 'reason', 'upstreamRef']);
  return {
    ...attemptOf(input),
    delay_ms: check.duration('delayMs', input.delayMs),
    new_reason: check.text('reason', input.reason, MAX_REASON, 'cut'),
    new_ref: check.optionalId('upstreamRef', input.upstreamRef),
  };
}

const leaseMs = (value: unknown) => check.optionalInteger('leaseMs', value, 100, 86_400_000);
