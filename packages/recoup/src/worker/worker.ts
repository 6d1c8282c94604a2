// A worker: leases jobs of one queue as slots are free, runs the handler, drains when it is stopped.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Tracer } from '../db/tracing.ts';
import { InvalidInput, Refusal } from '../errors.ts';
import * as input from '../input.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Claimed, LeasedJob } from '../jobs/signals.ts';
import type { Waking } from '../waking.ts';
import type { Check, Handler } from './handler.ts';
import { Run } from './run.ts';

export type { Check, Checked, Handler, Work } from './handler.ts';

export interface WorkOptions {
  /** Jobs at once; 10 unless set. */
  concurrency?: number;
  /** A run longer than this is aborted and reported as presumed failed, in ms; none unless set. Its late result still counts. */
  timeoutMs?: number;
  /** The lease's length, in ms; the queue's unless set. It is extended by itself for as long as the handler runs. */
  leaseMs?: number;
  /** Asked before a job runs again after a presumed failure: did the upstream do it after all? */
  check?: Check;
  /** Where the queue has a pool: the model or capability that the upstreams are used for. */
  model?: string;
  capability?: string;
  /** How long `stop()` lets handlers finish before it aborts and releases them, in ms; 20,000 unless set. */
  drainMs?: number;
  /** How long an aborted handler may take to return before the worker reports without it, in ms; 1,000 unless set. */
  graceMs?: number;
  /** The worker's name in leases and attempts. */
  name?: string;
}

/** What a worker works on: a handle of this process, or a server that is asked over a wire. */
export interface WorkerContext {
  jobs: Pick<Jobs, 'claim' | 'extend' | 'handOver' | 'release' | 'fail' | 'succeed' | 'report'>;
  waking: Pick<Waking, 'count' | 'wait'>;
  /** Milliseconds until the queue's next job is due; null where that is not known. */
  dueInMs: (queue: string) => Promise<number | null>;
  onError: (error: Error) => void;
  /** The longest sleep between two looks, in ms. */
  pollMs: number;
  tracer?: Tracer | undefined;
}

const FIELDS = ['concurrency', 'timeoutMs', 'leaseMs', 'check', 'drainMs', 'graceMs', 'name', 'model', 'capability'];

export class Worker {
  readonly queue: string;
  readonly name: string;
  /** Resolves when the worker has stopped and nothing of it runs any more. */
  readonly stopped: Promise<void>;
  readonly #context: WorkerContext;
  readonly #handler: Handler;
  readonly #options: WorkOptions;
  readonly #concurrency: number;
  readonly #runs = new Set<Run>();
  readonly #stopping = new AbortController();
  #settle!: () => void;
  #slotFreed: (() => void) | undefined;
  #loop: Promise<void> | undefined;
  #draining: Promise<void> | undefined;
  #hurried = false;

  constructor(queue: string, handler: Handler, options: WorkOptions, context: WorkerContext) {
    input.onlyFields('work', options, FIELDS);
    if (typeof handler !== 'function') throw new InvalidInput('handler', 'must be a function');
    if (options.check !== undefined && typeof options.check !== 'function')
      throw new InvalidInput('check', 'must be a function');
    this.queue = input.id('queue', queue);
    this.name = input.optionalId('name', options.name) ?? `${hostname()}:${process.pid}`.slice(0, 200);
    this.#concurrency = input.optionalInteger('concurrency', options.concurrency, 1, 500) ?? 10;
    for (const field of ['timeoutMs', 'drainMs', 'graceMs'] as const) input.duration(field, options[field]);
    input.optionalInteger('leaseMs', options.leaseMs, 100, 86_400_000);
    for (const field of ['model', 'capability'] as const) input.optionalId(field, options[field]);
    this.#handler = handler;
    this.#options = options;
    this.#context = context;
    this.stopped = new Promise((done) => {
      this.#settle = done;
    });
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

  #hurry(): void {
    this.#hurried = true;
    for (const run of this.#runs) run.abort('shutdown');
  }

  async #drain(): Promise<void> {
    await this.#loop;
    const timer = setTimeout(() => this.#hurry(), this.#options.drainMs ?? 20_000);
    await Promise.all([...this.#runs].map((run) => run.reported));
    clearTimeout(timer);
    this.#settle();
  }

  async #lease(): Promise<void> {
    const { signal } = this.#stopping;
    const { waking, jobs, pollMs } = this.#context;
    let requestId = randomUUID() as string;
    let failures = 0;
    while (!signal.aborted) {
      const free = this.#concurrency - this.#runs.size;
      if (free === 0) {
        // stop() frees it too: a listener on the signal for each wait would pile up.
        await new Promise<void>((done) => {
          this.#slotFreed = done;
        });
        continue;
      }
      const seen = waking.count(this.queue);
      try {
        const { leaseMs, model, capability } = this.#options;
        const { jobs: leased, out } = await jobs.claim({
          queue: this.queue,
          count: Math.min(free, 500),
          worker: this.name,
          requestId,
          ...(leaseMs === undefined ? {} : { leaseMs }),
          ...(model === undefined ? {} : { model }),
          ...(capability === undefined ? {} : { capability }),
        });
        // Only an answer that arrived uses up the request id: a lost one is asked for again.
        requestId = randomUUID();
        failures = 0;
        for (const job of leased) this.#start(job);
        if (leased.length === 0) await waking.wait(this.queue, await this.#pause(out), signal, seen);
      } catch (error) {
        failures += 1;
        if (!(error instanceof Refusal && error.retryable)) this.#context.onError(error as Error);
        await waking.wait('', Math.min(100 * 2 ** Math.min(failures, 10), pollMs), signal);
      }
    }
  }

  /** How long to sleep: until the queue's next job is due, or its pool is expected back, at most the poll's cap. */
  async #pause(out: Claimed['out']): Promise<number> {
    const { dueInMs, pollMs } = this.#context;
    if (out) return Math.min(out.retryAfterMs, pollMs);
    const inMs = await dueInMs(this.queue);
    // Due already and yet not leased: a paused queue, or a row held by somebody.
    if (inMs === null || inMs <= 0) return pollMs;
    return Math.min(Math.max(inMs, 5), pollMs);
  }

  #start(leased: LeasedJob): void {
    const run = new Run(leased, this.#handler, this.#options, this.#context);
    this.#runs.add(run);
    // What the last lease brought to a worker that is being stopped at once.
    if (this.#hurried) run.abort('shutdown');
    void run.reported.then(() => {
      this.#runs.delete(run);
      this.#slotFreed?.();
    });
  }
}
