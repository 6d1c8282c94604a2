// An answer read once: what every decoder looks at, and the notes of what was implausible in it.
import type { Answer, Dropped, DropRule } from '../facts/facts.ts';
import { type Body, bodyOf } from './body.ts';
import { type ErrorBody, errorOf } from './error-body.ts';
import { type HeaderReader, headersOf } from './headers.ts';
import { httpDateMs } from './instants.ts';
import { redacted } from './redact.ts';

export interface Reading {
  /** When the answer came, in Unix ms. */
  readonly now: number;
  /** How far the provider's clock is ahead: taken off its absolute instants. 0 up to a minute, and without a Date header. */
  readonly skewMs: number;
  /** What counts: of an event after 200 the status inside. */
  readonly status: number | null;
  readonly headers: HeaderReader;
  readonly body: Body;
  readonly error: ErrorBody;
  /** The code of a network failure. */
  readonly failure: string | null;
  readonly model: string | null;
  readonly dropped: readonly Dropped[];
  drop(field: string, value: unknown, rule: DropRule): void;
}

const MAX_DROPPED = 50;
const SKEW_COUNTS_FROM_MS = 60_000;
/** A clock that is further off is a wrong header, or an answer from a cache. */
const MAX_SKEW_MS = 86_400_000;

export function read(answer: Answer): Reading {
  const dropped: Dropped[] = [];
  const drop = (field: string, value: unknown, rule: DropRule) => {
    const one = { field, value: redacted(shown(value), 40) ?? '', rule };
    // What is looked at twice is counted once.
    const known = dropped.some((other) => other.field === field && other.value === one.value && other.rule === rule);
    if (!known && dropped.length < MAX_DROPPED) dropped.push(one);
  };
  const now = answer.receivedAt.getTime();
  const headers = headersOf(answer.headers);
  const body = bodyOf(answer.body);
  // Of a success the body is nobody's business here, however long.
  const ok = answer.status !== null && answer.status >= 200 && answer.status < 300;
  if (body.kind === 'unread' && !ok) drop('body', typeof answer.body, 'too_large');
  if (body.kind === 'garbled' && !ok) drop('body', 'garbled', 'not_understood');
  const error = errorOf(body, headers);
  const failure = typeof answer.error === 'string' ? answer.error.slice(0, 100) : null;
  const model = typeof answer.model === 'string' && answer.model !== '' ? answer.model.slice(0, 200) : null;
  const status = statusOf(answer.status, error, drop);
  return { now, skewMs: skewOf(headers, now, drop), status, headers, body, error, failure, model, dropped, drop };
}

function statusOf(given: unknown, error: ErrorBody, drop: Reading['drop']): number | null {
  if (given === null || given === undefined || given === 0) return error.status;
  if (typeof given !== 'number' || !Number.isInteger(given) || given < 100 || given > 999) {
    drop('status', given, 'implausible_status');
    return error.status;
  }
  return given < 300 && error.said ? (error.status ?? given) : given;
}

function skewOf(headers: HeaderReader, now: number, drop: Reading['drop']): number {
  const date = headers.get('date');
  if (date === undefined) return 0;
  const said = httpDateMs(date);
  const skew = said === null ? Number.NaN : said - now;
  if (Math.abs(skew) <= SKEW_COUNTS_FROM_MS) return 0;
  if (Math.abs(skew) <= MAX_SKEW_MS) return skew;
  drop('date', date, said === null ? 'not_understood' : 'implausible_date');
  return 0;
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  return Array.isArray(value) ? 'a list' : typeof value;
}
