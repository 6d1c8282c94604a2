// What callers say of a job, checked: each input as its statement takes it.
import { InvalidInput } from '../errors.ts';
import * as check from '../input.ts';
import { checkAnswer } from '../upstreams/answer.ts';
import type {
  Answer,
  AttemptKey,
  Cancel,
  Extend,
  Fail,
  HandOver,
  JobKey,
  Lease,
  Release,
  Submit,
  Succeed,
} from './signals.ts';

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
export const MAX_REASON = 2000;
const MAX_ATTEMPT = 2_147_483_647;

const ONLY_WITH_QUEUE = ['priority', 'notBefore', 'delayMs', 'maxFailures'] as const;
const ONLY_WITHOUT = ['deadlineMs', 'upstreamRef'] as const;
const ALWAYS = ['wallet', 'job', 'queue', 'price', 'payload', 'labels', 'traceparent'];
const SUBMIT = [...ALWAYS, ...ONLY_WITH_QUEUE, ...ONLY_WITHOUT];

// Inputs name their fields one by one: an object that starts with a spread takes V8 ten times as long.
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
  return {
    wallet_id: check.id('wallet', input.wallet),
    id: check.id('job', input.job),
    n: check.optionalInteger('attempt', input.attempt, 0, MAX_ATTEMPT),
  };
}
export const attemptOf = (input: AttemptKey) => ({
  wallet_id: check.id('wallet', input.wallet),
  id: check.id('job', input.job),
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
    wallet_id: check.id('wallet', input.wallet),
    id: check.id('job', input.job),
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
    wallet_id: check.id('wallet', input.wallet),
    id: check.id('job', input.job),
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
    wallet_id: check.id('wallet', input.wallet),
    id: check.id('job', input.job),
    n: check.optionalInteger('attempt', input.attempt, 1, MAX_ATTEMPT),
    new_final_price: check.optionalInteger('finalPrice', input.finalPrice, 0, check.MAX_AMOUNT),
    new_result: check.json('result', input.result, MAX_JSON).value,
    new_ref: check.optionalId('upstreamRef', input.upstreamRef),
  };
}

export function answeredInput(input: Answer) {
  const fields = ['wallet', 'job', 'attempt', 'answer', 'result', 'finalPrice', 'upstreamRef', 'use'];
  check.onlyFields('report', input, fields);
  const { result, finalPrice } = input;
  // What is wrong with the result is said before anything is changed.
  check.json('result', result, MAX_JSON);
  return {
    ...attemptOf(input),
    answer: checkAnswer(input.answer),
    result,
    finalPrice: check.optionalInteger('finalPrice', finalPrice, 0, check.MAX_AMOUNT),
    new_ref: check.optionalId('upstreamRef', input.upstreamRef),
    use: input.use,
  };
}

export function cancelInput(input: Cancel) {
  check.onlyFields('cancel', input, ['wallet', 'job', 'keep', 'reason']);
  return {
    wallet_id: check.id('wallet', input.wallet),
    id: check.id('job', input.job),
    kept: check.optionalInteger('keep', input.keep, 0, check.MAX_AMOUNT),
    new_reason: check.text('reason', input.reason, MAX_REASON, 'cut'),
  };
}

export function leaseInput(input: Lease) {
  check.onlyFields('lease', input, ['queue', 'count', 'worker', 'leaseMs', 'requestId', 'model', 'capability']);
  return {
    queue: check.id('queue', input.queue),
    count: check.optionalInteger('count', input.count, 1, 500) ?? 1,
    worker: check.optionalId('worker', input.worker),
    lease_ms: leaseMs(input.leaseMs),
    request_id: check.optionalId('requestId', input.requestId),
    model: check.optionalId('model', input.model),
    capability: check.optionalId('capability', input.capability),
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
