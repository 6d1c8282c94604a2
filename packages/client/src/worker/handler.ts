// What a handler gets and gives: the job in its hands, and the ways to say how it went. The same words as the library's.
import type { components } from '../generated/openapi.ts';

/** A job as the service tells it: credits are integers, instants RFC 3339 text in UTC. */
export type Job = components['schemas']['Job'];
export type Leased = components['schemas']['LeasedJob'];
export type Verdict = NonNullable<Job['verdict']>;

/** Why the signal of a job fired. */
export type AbortCause = 'timeout' | 'lease_lost' | 'canceled' | 'succeeded' | 'shutdown';

/** The reason of a job's AbortSignal. */
export class Aborted extends Error {
  override readonly name = 'AbortError';
  override readonly cause: AbortCause;
  constructor(cause: AbortCause) {
    super(
      {
        timeout: 'the time-out passed',
        lease_lost: 'the lease was lost: another attempt may be running',
        canceled: 'the job was canceled',
        succeeded: 'the job has succeeded elsewhere',
        shutdown: 'the worker is stopping',
      }[cause],
    );
    this.cause = cause;
  }
}

export interface FailureOptions {
  /** `definitive`: the upstream said so. Unless set it is `presumed`: the work may still be done somewhere. */
  verdict?: Verdict;
  /** False: no further attempt. */
  retryable?: boolean;
  /** The upstream's Retry-After, in ms. */
  retryAfterMs?: number;
  upstreamRef?: string;
  cause?: unknown;
}

/** Throw it to say what a failure is worth. Anything else that a handler throws is a presumed, retryable failure. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly verdict: Verdict;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly upstreamRef: string | undefined;
  constructor(reason: string, options: FailureOptions = {}) {
    super(reason, { cause: options.cause });
    this.verdict = options.verdict ?? 'presumed';
    this.retryable = options.retryable ?? true;
    this.retryAfterMs = options.retryAfterMs;
    this.upstreamRef = options.upstreamRef;
  }
}

/** Throw it to give the attempt back: queued again after `delayMs`, no failure counted, no refund. */
export class Release extends Error {
  override readonly name = 'Release';
  readonly delayMs: number | undefined;
  constructor(reason: string, options: { delayMs?: number } = {}) {
    super(reason);
    this.delayMs = options.delayMs;
  }
}

/** Return it to say more than the result: the final price, the upstream's reference. */
export class Done {
  readonly result: unknown;
  readonly finalPrice: number | undefined;
  readonly upstreamRef: string | undefined;
  constructor(result: unknown, options: { finalPrice?: number; upstreamRef?: string } = {}) {
    this.result = result;
    this.finalPrice = options.finalPrice;
    this.upstreamRef = options.upstreamRef;
  }
}

/** A job in a handler's hands. */
export interface Work {
  readonly wallet: string;
  readonly id: string;
  readonly attempt: number;
  readonly payload: unknown;
  readonly job: Job;
  readonly earlier: Leased['earlier'];
  /** Fires with an `Aborted`: time-out, lease lost, canceled, succeeded elsewhere, shutdown. Pass it to fetch. */
  readonly signal: AbortSignal;
  /** Keeps the upstream's reference with the job, so that a later attempt can ask about it. The lease is kept by itself. */
  note(upstreamRef: string): Promise<void>;
  /** The provider works on it now and will call back: no lease any more, the handler's return value is not used. */
  handOver(options: { upstreamRef: string; deadlineMs?: number }): Promise<void>;
}

/** Returns the result (JSON), or a Done; throws a Failure, a Release, or anything. */
export type Handler = (work: Work) => Promise<unknown>;

/** What a `check` learned about an earlier attempt that was presumed failed. */
export type Checked =
  | { status: 'succeeded'; result?: unknown; finalPrice?: number }
  /** Still at it: handed over to it, until its callback or the deadline. */
  | { status: 'working'; deadlineMs?: number }
  /** Nothing there, or it failed: run the handler. */
  | { status: 'failed' }
  | undefined;

export type Check = (work: Work) => Promise<Checked>;
