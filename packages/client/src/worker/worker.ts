// A worker: leases jobs of one queue by long poll as slots are free, runs the handler, drains when it is stopped.
import type { Calls } from '../client.ts';
import { asRecoupError, type RecoupError } from '../errors.ts';
import { invalid } from '../operation.ts';
import { pauseMs, sleep } from '../time.ts';
import type { CallOptions } from '../transport.ts';
import type { Check, Handler, Leased } from './handler.ts';
import { Run } from './run.ts';

export interface WorkOptions {
  /** Jobs at once; 10 unless set. */
  concurrency?: number;
  /** A run longer than this is aborted and reported as presumed failed, in ms; none unless set. Its late result still counts. */
  timeoutMs?: number;
  /** The lease's length, in ms; the queue's unless set. It is extended by itself for as long as the handler runs. */
  leaseMs?: number;
  /** Asked before a job runs again after a presumed failure: did the upstream do it after all? */
  check?: Check;
  /** How long `stop()` lets handlers finish before it aborts and releases them, in ms; 20,000 unless set. */
  drainMs?: number;
  /** How long an aborted handler may take to return before the worker reports without it, in ms; 1,000 unless set. */
  graceMs?: number;
  /** Where the queue has a pool: the model or capability that the upstreams are used for. */
  model?: string;
  capability?: string;
  /** The worker's name in leases and attempts; a random one unless set. */
  name?: string;
  /** How long one poll waits for the first job, in ms, up to 60,000; 30,000 unless set. Less where a proxy cuts what is silent. */
  waitMs?: number;
  /**
   * Told of what goes wrong beside the jobs: a refused lease, a report that was not taken, an outage (once each). Prints to
   * the console unless set.
   */
  onError?: (error: Error) => void;
}

/**
 * When to ask again about a lease whose answer was lost, where nothing came: the lost request may still be on its way in the
 * database, holding jobs that the question passed over.
 */
const AGAIN_MS = 200;

/** What a worker asks of the service. */
export type Service = Pick<Calls, 'jobs' | 'queues'>;

const RANGES: Record<string, [number, number]> = {
  concurrency: [1, 500],
  timeoutMs: [0, 2_147_483_647],
  leaseMs: [100, 86_400_000],
  drainMs: [0, 2_147_483_647],
  graceMs: [0, 2_147_483_647],
  waitMs: [0, 60_000],
};
const FIELDS = [...Object.keys(RANGES), 'check', 'name', 'model', 'capability', 'onError'];
/** So many tries in a row that came to nothing are an outage that somebody should hear of. */
const OUTAGE = 3;
/** Refusals of a lease that no repetition changes: the worker has nothing to do here. */
const FATAL: readonly string[] = ['unauthorized', 'forbidden', 'invalid', 'wrong_host', 'schema_missing'];

export class Worker {
  readonly queue: string;
  readonly name: string;
  /**
   * Resolves when the worker has stopped and nothing of it runs any more. Rejects, then, with the error that ended it where it
   * can never work: the key is refused or may not lease, say. Await it in a process that does nothing else.
   */
  readonly stopped: Promise<void>;
  readonly #service: Service;
  readonly #handler: Handler;
  readonly #options: WorkOptions;
  readonly #onError: (error: Error) => void;
  readonly #runs = new Set<Run>();
  readonly #stopping = new AbortController();
  #settle!: () => void;
  #fatal: RecoupError | undefined;
  #slotFreed: (() => void) | undefined;
  #loop: Promise<void> | undefined;
  #draining: Promise<void> | undefined;

  constructor(queue: string, handler: Handler, options: WorkOptions, service: Service) {
    checkOptions(queue, handler, options);
    this.queue = queue;
    this.name = options.name ?? `worker-${crypto.randomUUID().slice(0, 8)}`;
    this.#handler = handler;
    this.#options = options;
    this.#service = service;
    const tell = options.onError ?? ((error: Error) => console.error(`recoup: ${error.message}`));
    this.#onError = (error) => {
      try {
        tell(error);
      } catch {
        // What is told of errors must not make others.
      }
    };
    this.stopped = new Promise((done, fail) => {
      this.#settle = () => (this.#fatal ? fail(this.#fatal) : done());
    });
    // Who does not await it has heard by `onError`.
    this.stopped.catch(() => {});
  }

  /** How many jobs it holds now. */
  get running(): number {
    return this.#runs.size;
  }

  start(): void {
    this.#loop ??= this.#lease();
  }

  /**
   * Stops: no further lease; handlers may finish for `drainMs`, then their signal fires and what is left is released
   * (no failure counted, no refund). `now`: at once. Safe to call twice; the second call may hurry the first.
   */
  stop(options: { now?: boolean } = {}): Promise<void> {
    this.#stopping.abort();
    this.#slotFreed?.();
    if (options.now) this.#hurry();
    this.#draining ??= this.#drain();
    return this.#draining;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Only once the last poll has been given back: its question could take what is released here. */
  #hurry(): void {
    void this.#loop?.then(() => {
      for (const run of this.#runs) run.abort('shutdown');
    });
  }

  async #drain(): Promise<void> {
    const timer = setTimeout(() => this.#hurry(), this.#options.drainMs ?? 20_000);
    await this.#loop;
    await Promise.all([...this.#runs].map((run) => run.reported));
    clearTimeout(timer);
    this.#settle();
  }

  async #lease(): Promise<void> {
    const { signal } = this.#stopping;
    let requestId: string | undefined;
    let failures = 0;
    // How often an id whose answer was lost is still asked about, without waiting: see AGAIN_MS.
    let owed = 0;
    while (!signal.aborted) {
      const free = (this.#options.concurrency ?? 10) - this.#runs.size;
      if (free === 0) {
        // stop() frees it too: a listener on the signal for each wait would pile up.
        await new Promise<void>((done) => {
          this.#slotFreed = done;
        });
        continue;
      }
      try {
        // Only an answer that arrived uses up the request id: a lost one is asked for again.
        requestId ??= crypto.randomUUID();
        const waitMs = owed > 0 ? 0 : (this.#options.waitMs ?? 30_000);
        const leased = await this.#ask(free, requestId, waitMs, { signal });
        for (const job of leased) this.#start(job, failures > 0);
        owed = leased.length > 0 ? 0 : Math.max(owed - 1, 0);
        if (owed > 0) {
          await sleep(AGAIN_MS, signal);
          continue;
        }
        requestId = undefined;
        failures = 0;
      } catch (threw) {
        if (signal.aborted) break;
        const error = asRecoupError(threw);
        if (FATAL.includes(error.code)) {
          this.#fatal = error;
          this.#onError(error);
          // Not awaited: it waits for this loop.
          void this.stop();
          return;
        }
        failures += 1;
        owed = 2;
        if (!error.retryable || failures === OUTAGE) this.#onError(error);
        await sleep(pauseMs(failures, error.retryAfterMs), signal);
      }
    }
    if (requestId !== undefined) await this.#giveBack(requestId);
  }

  async #ask(count: number, requestId: string, waitMs: number, options: CallOptions): Promise<Leased[]> {
    const { leaseMs, model, capability } = this.#options;
    const input = { queue: this.queue, count, worker: this.name, requestId, waitMs };
    const { jobs } = await this.#service.queues.lease(
      {
        ...input,
        ...(leaseMs === undefined ? {} : { leaseMs }),
        ...(model === undefined ? {} : { model }),
        ...(capability === undefined ? {} : { capability }),
      },
      { repeat: false, ...options },
    );
    return jobs;
  }

  /**
   * The poll that was cut off by the stop may have taken jobs, for nobody: its id brings them, and they are given back now,
   * not when their leases lapse and count as failures. Where it had taken none, the question may take one that is due, and
   * gives that back too: one attempt more is the price of not losing a race with the poll that is still on its way.
   */
  async #giveBack(requestId: string): Promise<void> {
    try {
      let leased = await this.#ask(1, requestId, 0, { timeoutMs: 5000 });
      if (leased.length === 0) {
        await sleep(AGAIN_MS);
        leased = await this.#ask(1, requestId, 0, { timeoutMs: 5000 });
      }
      for (const { job } of leased) {
        const key = { wallet: job.wallet, job: job.id, attempt: job.attempt };
        await this.#service.jobs.release({ ...key, reason: 'the worker is stopping' });
      }
    } catch (error) {
      this.#onError(error as RecoupError);
    }
  }

  #start(leased: Leased, askedAgain: boolean): void {
    const context = { service: this.#service, onError: this.#onError, askedAgain };
    const run = new Run(leased, this.#handler, this.#options, context);
    this.#runs.add(run);
    void run.reported.then(() => {
      this.#runs.delete(run);
      this.#slotFreed?.();
    });
  }
}

function checkOptions(queue: string, handler: Handler, options: WorkOptions): void {
  for (const name of Object.keys(options)) {
    if (!FIELDS.includes(name)) throw invalid(name, `is not an option of work; known: ${FIELDS.join(', ')}`);
  }
  for (const [name, [low, high]] of Object.entries(RANGES)) {
    const value = options[name as keyof WorkOptions] as number | undefined;
    const fits = value === undefined || (Number.isInteger(value) && value >= low && value <= high);
    if (!fits) throw invalid(name, `must be an integer from ${low} to ${high}`);
  }
  if (typeof queue !== 'string' || queue === '') throw invalid('queue', 'must be a text that is not empty');
  if (typeof handler !== 'function') throw invalid('handler', 'must be a function');
  for (const name of ['check', 'onError'] as const) {
    if (options[name] !== undefined && typeof options[name] !== 'function') throw invalid(name, 'must be a function');
  }
}
