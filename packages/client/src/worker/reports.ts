// What a run tells the service of its end; what is wrong with the words around it must not hold it up.
import { RecoupError } from '../errors.ts';
import { type Done, Failure, Release } from './handler.ts';
import type { Service } from './worker.ts';

export interface AttemptKey {
  wallet: string;
  job: string;
  attempt: number;
}

const ONCE = { repeat: false } as const;
/** What the service takes. Sent, a much larger one would be cut off without an answer that says so. */
const RESULT_BYTES = 1_048_576;

export class Reports {
  readonly #key: AttemptKey;
  readonly #service: Service;
  readonly #onError: (error: Error) => void;
  /** It was leased with an upstream: what is said of it is said of both. */
  readonly #joined: boolean;

  constructor(key: AttemptKey, service: Service, joined: boolean, onError: (error: Error) => void) {
    this.#key = key;
    this.#service = service;
    this.#joined = joined;
    this.#onError = onError;
  }

  async succeed(attempt: number, done: Done): Promise<void> {
    const { finalPrice, upstreamRef } = done;
    const key = { ...this.#key, attempt };
    const more = {
      ...(finalPrice === undefined ? {} : { finalPrice }),
      ...(upstreamRef === undefined ? {} : { upstreamRef }),
    };
    try {
      const result = sendable(done.result);
      try {
        // What was done with an upstream says that it works; what a check has found was done before.
        if (this.#joined && attempt === this.#key.attempt) {
          const said = { answer: done.answer ?? { status: 200 }, ...(done.use && { use: done.use }) };
          await this.#service.jobs.report({ ...key, result, ...more, ...said }, ONCE);
        } else await this.#service.jobs.succeed({ ...key, result, ...more }, ONCE);
      } catch (error) {
        // The work was done, whatever is wrong with what the handler told beside its result: that can be told later.
        if (!isInvalid(error) || isOfResult(error)) throw error;
        this.#onError(error);
        await this.#service.jobs.succeed({ ...key, result }, ONCE);
      }
    } catch (error) {
      // Canceled meanwhile: the result must not be handed out, and nothing is left to report.
      if (error instanceof RecoupError && (error.code === 'canceled' || error.code === 'pruned')) return;
      if (!isInvalid(error)) throw error;
      this.#onError(error);
      // A result that cannot be kept: a failure that another run would only repeat.
      await this.fail(new Failure(error.message, { verdict: 'definitive', retryable: false, cause: error }));
    }
  }

  /** With what the provider answered, whoever has the job now: it is news of the upstream in any case. Whether there was such an answer. */
  async answered(threw: unknown): Promise<boolean> {
    if (!(this.#joined && threw instanceof Failure && threw.answer)) return false;
    const { answer, upstreamRef } = threw;
    try {
      const more = upstreamRef === undefined ? {} : { upstreamRef };
      await this.#service.jobs.report({ ...this.#key, answer, ...more }, ONCE);
    } catch (error) {
      if (error instanceof RecoupError && error.code === 'canceled') return true;
      if (!isInvalid(error)) throw error;
      // The failure stands, whatever was wrong with the answer.
      this.#onError(error);
      return false;
    }
    return true;
  }

  /** Whether it was given back: as often as the queue allows, and it counts as a failure. */
  async release(threw: unknown): Promise<boolean> {
    const delayMs = threw instanceof Release ? threw.delayMs : undefined;
    const more = delayMs === undefined ? {} : { delayMs };
    try {
      await this.#service.jobs.release({ ...this.#key, reason: inWords(threw), ...more }, ONCE);
      return true;
    } catch (error) {
      // A delay that is none counts as a failure too.
      if (isInvalid(error)) this.#onError(error);
      else if (!(error instanceof RecoupError && error.code === 'release_limit')) throw error;
      return false;
    }
  }

  async fail(threw: unknown): Promise<void> {
    const failure = threw instanceof Failure ? threw : new Failure(inWords(threw));
    const { verdict, retryable, retryAfterMs, upstreamRef } = failure;
    const report = { ...this.#key, verdict, retryable, reason: inWords(failure) };
    const more = {
      ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.round(retryAfterMs) }),
      ...(upstreamRef === undefined ? {} : { upstreamRef }),
    };
    try {
      await this.#service.jobs.fail({ ...report, ...more }, ONCE);
    } catch (error) {
      if (!isInvalid(error)) throw error;
      // The failure stands, whatever was wrong with what the handler told of it.
      this.#onError(error);
      const definitive = verdict === 'definitive';
      const plain = { verdict: definitive ? 'definitive' : 'presumed', retryable: retryable !== false } as const;
      await this.#service.jobs.fail({ ...report, ...plain }, ONCE);
    }
  }
}

/** The result as it can be sent. Refuses `invalid` with field `result`. */
function sendable(result: unknown): unknown {
  const refuse = (rule: string) =>
    new RecoupError('invalid', `result: ${rule}`, { status: 400, details: { field: 'result', rule } });
  let text: string | undefined;
  try {
    text = JSON.stringify(result ?? null);
  } catch (error) {
    throw refuse(`must be JSON: ${inWords(error)}`);
  }
  if (text === undefined) throw refuse(`must be JSON; got a ${typeof result}`);
  const tooLarge = text.length > RESULT_BYTES || new TextEncoder().encode(text).length > RESULT_BYTES;
  if (tooLarge) throw refuse(`must be at most ${RESULT_BYTES} bytes of JSON`);
  return result ?? null;
}

/** Refused for what it said, not for what it is about. */
const isInvalid = (error: unknown): error is RecoupError =>
  error instanceof RecoupError && (error.code === 'invalid' || error.code === 'too_large');

const isOfResult = ({ code, details }: RecoupError): boolean =>
  code === 'too_large' || /^(result|body)/.test(String(details.field));

/** What was thrown, in words; a handler may throw anything, also what cannot be read. */
function inWords(threw: unknown): string {
  try {
    return threw instanceof Error ? String(threw.message || threw.name) : String(threw);
  } catch {
    return 'something that cannot be printed';
  }
}
