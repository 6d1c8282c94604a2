// Errors as HTTP says them: problem+json (RFC 9457) with the codes and statuses of the errors table.
import type { FastifyError } from 'fastify';
import { asRefusal, type ErrorCode, errors, InvalidInput, Refusal } from 'recoup';

export interface Problem extends Record<string, unknown> {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  code: ErrorCode;
  requestId: string;
}

export const PROBLEM_TYPE = 'application/problem+json';

/** What Fastify refuses by itself, in our codes. */
const OF_FASTIFY: Readonly<Record<string, [ErrorCode, string?]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['too_large'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type'],
  FST_ERR_CTP_INVALID_TYPE: ['unsupported_media_type'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid', 'body: its length is not the Content-Length'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid', 'body: must be a JSON object'],
  FST_ERR_BAD_URL: ['invalid', 'path: must be valid percent-encoded UTF-8'],
  FST_ERR_MAX_PARAM_LENGTH: ['invalid', 'path: a part of it is too long'],
  FST_ERR_ASYNC_CONSTRAINT: ['not_found'],
};

/** Codes whose message may hold what is not the caller's business: the sentence alone is said, the rest is logged. */
const HIDDEN = /^(database_|schema_|server_too_old|internal)/;

/** Any error as the refusal it means. What nobody foresaw is `internal`. */
export function refusalFor(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { code, statusCode, message } = error as FastifyError;
  const known = OF_FASTIFY[code];
  if (known) return new Refusal(known[0], known[1], known[0] === 'invalid' ? fieldOf(known[1]!) : {}, { cause: error });
  if (statusCode === 400) return new InvalidInput('body', `must be JSON: ${message}`);
  const refusal = asRefusal(error, false);
  return refusal.code === 'database_error' ? new Refusal('internal', undefined, {}, { cause: error }) : refusal;
}

function fieldOf(message: string): { field: string; rule: string } {
  const [field = '', rule = ''] = message.split(': ');
  return { field, rule };
}

export function problemOf(refusal: Refusal, instance: string, requestId: string): Problem {
  const hidden = HIDDEN.test(refusal.code);
  const { sentence, status } = errors[refusal.code];
  return {
    ...(hidden ? {} : refusal.details),
    type: `/errors/${refusal.code}`,
    title: sentence,
    status,
    detail: hidden ? sentence : refusal.message,
    instance,
    code: refusal.code,
    requestId,
  };
}

/** When it is worth trying again, in seconds; undefined: not by waiting. */
export function retryAfter(refusal: Refusal): number | undefined {
  if (refusal.status !== 429 && refusal.status !== 503) return undefined;
  // A replica that closes: another one answers.
  return refusal.retryable || refusal.code === 'closed' ? 1 : 30;
}

/**
 * What the log says of an error: its code, what the refusal names (ids and amounts only), and where it was thrown. Never a
 * driver's message, nor the rows and values that hang on its error: they hold what callers sent.
 */
export function loggable(error: unknown, refusal = refusalFor(error)): Record<string, unknown> {
  const { sqlstate } = refusal.details;
  const { name, stack } = error instanceof Error ? error : new Error(String(error));
  const told = error instanceof Refusal || (error as Error | undefined)?.cause instanceof Refusal;
  return {
    code: refusal.code,
    ...(sqlstate === undefined ? {} : { sqlstate }),
    error: name,
    ...(told ? { message: (error as Error).message } : {}),
    stack: stack?.split('\n').filter((line) => /^\s+at /.test(line)),
  };
}
