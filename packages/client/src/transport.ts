// Sends requests: one try with its time limit, and repeats of what may be repeated until a deadline.
import { checkAnswer, json, type Kind } from './answer.ts';
import { asRecoupError, RecoupError } from './errors.ts';
import type { Request } from './operation.ts';
import { pauseMs, sleep } from './time.ts';

export interface CallOptions {
  /** Ends the call: it is rejected with the reason of the signal. Whether it was done is then not known. */
  signal?: AbortSignal;
  /** How long one try may take, in ms; of a stream: how long it may be silent. 30,000 unless set. */
  timeoutMs?: number;
  /** How long the call may take with all its repeats, in ms; of a stream: one outage. 60,000 unless set; of the feed's stream: none. */
  deadlineMs?: number;
  /** False: one try only. */
  repeat?: boolean;
  /** Sent with it. */
  headers?: Readonly<Record<string, string>>;
}

export interface TransportOptions {
  url: string;
  key: string | undefined;
  headers: Readonly<Record<string, string>>;
  fetch: typeof fetch;
  timeoutMs: number;
  deadlineMs: number;
  maxAnswerBytes: number;
}

interface Prepared {
  url: string;
  init: RequestInit;
}

/** An answer whose body is still to come. */
export interface Opened {
  response: Response;
  /** The time limit starts anew: a stream is waited for. */
  listen(): void;
  /** The time limit rests: who reads the stream takes his time. */
  hold(): void;
  /** Hangs up, unless all of it was read. */
  end(): void;
}

export class Transport {
  readonly options: TransportOptions;

  constructor(options: TransportOptions) {
    this.options = options;
  }

  /** The answer of a call, repeated where that is safe. */
  async call(request: Request, options: CallOptions, repeatable: boolean): Promise<unknown> {
    const prepared = this.prepare(request, options);
    const patience = new Patience(options, repeatable, this.options.deadlineMs);
    for (;;) {
      try {
        const opened = await this.open(prepared, 'json', options, patience.leftMs);
        try {
          return await json(opened.response, this.options.maxAnswerBytes);
        } finally {
          opened.end();
        }
      } catch (error) {
        await patience.pause(error);
      }
    }
  }

  /** Once, before all tries: headers that cannot be sent are the caller's mistake, not a failure of the network. */
  prepare({ method, path, body }: Request, options: CallOptions): Prepared {
    const { url, key } = this.options;
    const headers = new Headers({ ...this.options.headers, ...options.headers });
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
    if (body !== undefined) headers.set('content-type', 'application/json');
    // A redirect would send the key somewhere else, or make a GET of a POST.
    const init: RequestInit = { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) };
    return { url: url + path, init };
  }

  /** One try. Throws what refuses; whatever comes of it, it is over after the time limit. */
  async open({ url, init }: Prepared, kind: Kind, options: CallOptions, leftMs: number): Promise<Opened> {
    const { fetch } = this.options;
    const abort = new AbortController();
    const limit = Math.min(options.timeoutMs ?? this.options.timeoutMs, leftMs, 2_147_483_647);
    const late = () => abort.abort(new RecoupError('unreachable', `No answer within ${limit} ms.`, { status: 0 }));
    let timer = setTimeout(late, limit);
    const ended = () => abort.abort(options.signal?.reason);
    if (options.signal?.aborted) ended();
    options.signal?.addEventListener('abort', ended, { once: true });
    const end = () => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', ended);
      // After the last byte it does nothing; before, it hangs up.
      abort.abort();
    };
    try {
      const response = await fetch(url, { ...init, signal: abort.signal });
      await checkAnswer(response, kind);
      return {
        response,
        end,
        hold: () => clearTimeout(timer),
        listen: () => {
          clearTimeout(timer);
          timer = setTimeout(late, limit);
        },
      };
    } catch (error) {
      end();
      throw error;
    }
  }
}

/** How long a call goes on trying, and when it gives up. */
export class Patience {
  readonly #options: CallOptions;
  readonly #repeatable: boolean;
  readonly #deadlineMs: number;
  #end: number;
  #tries = 0;

  constructor(options: CallOptions, repeatable: boolean, deadlineMs: number) {
    this.#options = options;
    this.#repeatable = repeatable;
    this.#deadlineMs = options.deadlineMs ?? deadlineMs;
    this.#end = performance.now() + this.#deadlineMs;
  }

  get leftMs(): number {
    return Math.max(this.#end - performance.now(), 1);
  }

  /** It was heard of: what comes now is another outage. */
  renew(): void {
    this.#tries = 0;
    this.#end = performance.now() + this.#deadlineMs;
  }

  /** Waits before the next try; throws where there is none. */
  async pause(error: unknown): Promise<void> {
    const { signal, repeat = true } = this.#options;
    signal?.throwIfAborted();
    const failed = asRecoupError(error);
    this.#tries += 1;
    const ms = pauseMs(this.#tries, failed.retryAfterMs);
    // Too many requests: refused before anything was done, so that it is safe to repeat whatever it is.
    const may = repeat && failed.retryable && (this.#repeatable || failed.code === 'rate_limited');
    if (!may || ms >= this.leftMs) throw failed;
    await sleep(ms, signal);
    signal?.throwIfAborted();
  }
}
