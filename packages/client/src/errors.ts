// The one error of the client: a refusal with its stable code, or no answer that could be read.
import type { components } from './generated/openapi.ts';

/**
 * The codes of the service, and two of the client's own. `unreachable`: no answer came, or it broke off, so that it is
 * not known whether the call was done. `unexpected_answer`: what answered is not Recoup (a proxy, a redirect, a page).
 */
export type ErrorCode = components['schemas']['Problem']['code'] | 'unreachable' | 'unexpected_answer';

export interface ErrorFacts {
  /** The HTTP status; 0 where no answer came. */
  status: number;
  details?: Record<string, unknown>;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Statuses that say "not now": the same request may be answered later. */
const NOT_NOW = new Set([408, 429, 502, 503, 504]);

export class RecoupError extends Error {
  override readonly name = 'RecoupError';
  /** Stable: decide by it. */
  readonly code: ErrorCode;
  readonly status: number;
  /** The facts of a refusal: field and rule, what differs, balance and price. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The `x-request-id` of the answer: the service's log has it too. */
  readonly requestId: string | undefined;
  /** How long the service asked to wait, in ms. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.status = facts.status;
    this.details = facts.details ?? {};
    this.requestId = facts.requestId;
    this.retryAfterMs = facts.retryAfterMs;
  }

  /** Whether the same call may be answered later. The client has repeated it already, until its deadline. */
  get retryable(): boolean {
    return this.code === 'unreachable' || NOT_NOW.has(this.status);
  }

  toJSON(): Record<string, unknown> {
    return { code: this.code, message: this.message, status: this.status, ...this.details };
  }
}

/** Whatever was thrown on the way of a request, as this error. */
export function asRecoupError(error: unknown): RecoupError {
  if (error instanceof RecoupError) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const words = cause instanceof Error ? cause.message || cause.name : String(cause);
  return new RecoupError('unreachable', `No answer: ${words}`, { status: 0, cause: error });
}
