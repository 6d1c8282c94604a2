// What a handler gets and gives: the job in its hands, and the ways to say how it went. The same words as the library's.
import type { components } from '../generated/openapi.ts';

/** A job as the service tells it: credits are integers, instants RFC 3339 text in UTC. */
export type Job = components['schemas']['Job'];
export type Leased = components['schemas']['LeasedJob'];
/** What a provider answered: status, headers, body; or the code of the network failure. */
export type ProviderAnswer = components['schemas']['ProviderAnswer'];
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
  /** What the provider answered, of a job that was leased with an upstream: it says what the failure is worth, and of whom. */
  answer?: ProviderAnswer;
  cause?: unknown;
}

/** Throw it to say what a failure is worth. Anything else that a handler throws is a presumed, retryable failure. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly verdict: Verdict;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly upstreamRef: string | undefined;
  readonly answer: ProviderAnswer | undefined;
  constructor(reason: string, options: FailureOptions = {}) {
    super(reason, { cause: options.cause });
    this.verdict = options.verdict ?? 'presumed';
    this.retryable = options.retryable ?? true;
    this.retryAfterMs = options.retryAfterMs;
    this.upstreamRef = options.upstreamRef;
    this.answer = options.answer;
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

export interface DoneOptions {
  finalPrice?: number;
  upstreamRef?: string;
  /** Of a job that was leased with an upstream: what the provider answered, for what it says of its windows. */
  answer?: ProviderAnswer;
  /** What was used of that upstream, by unit. */
  use?: Record<string, number>;
}

/** Return it to say more than the result: the final price, the upstream's reference, what was used. */
export class Done {
  readonly result: unknown;
  readonly finalPrice: number | undefined;
  readonly upstreamRef: string | undefined;
  readonly answer: ProviderAnswer | undefined;
  readonly use: Record<string, number> | undefined;
  constructor(result: unknown, options: DoneOptions = {}) {
    this.result = result;
    this.finalPrice = options.finalPrice;
    this.upstreamRef = options.upstreamRef;
    this.answer = options.answer;
    this.use = options.use;
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
  /** The upstream to run it on, where the queue has a pool; null: it has none. */
  readonly upstream: Leased['upstream'];
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
