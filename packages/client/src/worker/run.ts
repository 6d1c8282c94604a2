// One attempt in a worker's hands: keeps its lease, runs the handler, reports what came of it until it is heard.
import { asRecoupError, RecoupError } from '../errors.ts';
import { pauseMs, sleep } from '../time.ts';
import {
  type AbortCause,
  Aborted,
  type Checked,
  Done,
  Failure,
  type Handler,
  type Leased,
  Release,
  type Work,
} from './handler.ts';
import { type AttemptKey, Reports } from './reports.ts';
import type { Service, WorkOptions } from './worker.ts';

/** How the handler ended. */
type Ending = { returned: unknown } | { threw: unknown };

export interface RunContext {
  service: Service;
  onError: (error: Error) => void;
  /** The lease was asked for more than once: it began some time ago. */
  askedAgain: boolean;
}

/** One try: the loops here repeat, and look in between whether it is still worth it. */
const ONCE = { repeat: false } as const;

export class Run {
  /** Resolves when the attempt's end is reported, or does not need to be. Never rejects. */
  readonly reported: Promise<void>;
  readonly #leased: Leased;
  readonly #options: WorkOptions;
  readonly #context: RunContext;
  readonly #abort = new AbortController();
  /** The worker's time to drain is over: one more report, no waiting for a service that does not answer. */
  readonly #giveUp = new AbortController();
  readonly #key: AttemptKey;
  readonly #reports: Reports;
  #handedOver = false;
  #over = false;

  constructor(leased: Leased, handler: Handler, options: WorkOptions, context: RunContext) {
    this.#leased = leased;
    this.#options = options;
    this.#context = context;
    this.#key = { wallet: leased.job.wallet, job: leased.job.id, attempt: leased.job.attempt };
    this.#reports = new Reports(this.#key, context.service, Boolean(leased.upstream), context.onError);
    this.reported = this.#run(handler).catch((error: unknown) => context.onError(error as Error));
  }

  abort(cause: AbortCause): void {
    if (cause === 'shutdown') this.#giveUp.abort();
    if (!this.#abort.signal.aborted) this.#abort.abort(new Aborted(cause));
  }

  async #run(handler: Handler): Promise<void> {
    const { signal } = this.#abort;
    const keeping = this.#keepLease();
    const timeoutMs = this.#options.timeoutMs;
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.abort('timeout'), timeoutMs);
    const ending = this.#handle(handler);
    // Aborted, the handler gets a moment to end by itself; then the worker reports without it.
    const aborted = new Promise<undefined>((done) => {
      const later = () =>
        void sleep(this.#options.graceMs ?? 1000, undefined, { background: true }).then(() => done(undefined));
      if (signal.aborted) later();
      else signal.addEventListener('abort', later, { once: true });
    });
    try {
      const first = await Promise.race([ending, aborted]);
      clearTimeout(timer);
      if (first !== undefined) await this.#report(first);
      else {
        await this.#report({ threw: signal.reason });
        // What the handler still finds out counts: a success after a time-out is the late success, and a failure that the
        // upstream confirms upgrades the presumed one.
        void ending
          .then((late) => ('returned' in late || isDefinitive(late.threw) ? this.#report(late) : undefined))
          .catch((error: unknown) => this.#context.onError(error as Error));
      }
    } finally {
      // Also when the report was refused for good: the lease must not be kept for a run that is over.
      clearTimeout(timer);
      this.#over = true;
      await keeping.stop();
    }
  }

  async #handle(handler: Handler): Promise<Ending> {
    const work = this.#work();
    try {
      if (this.#leased.earlier?.verdict === 'presumed' && this.#options.check) {
        const done = await this.#checkFirst(await this.#options.check(work));
        if (done) return { returned: done };
      }
      return { returned: await handler(work) };
    } catch (threw) {
      return { threw };
    }
  }

  /** What the check found makes the run unnecessary, or does not. */
  async #checkFirst(found: Checked): Promise<Done | undefined> {
    const earlier = this.#leased.earlier;
    if (found?.status === 'succeeded') {
      const { result, finalPrice } = found;
      const more = finalPrice === undefined ? {} : { finalPrice };
      return new CheckedDone(earlier?.attempt ?? this.#key.attempt, result, more);
    }
    if (found?.status === 'working') {
      await this.#handOver({ upstreamRef: earlier?.upstreamRef ?? undefined, deadlineMs: found.deadlineMs });
      return new Done(null);
    }
    return undefined;
  }

  #work(): Work {
    const { job, payload, earlier, upstream } = this.#leased;
    return {
      wallet: job.wallet,
      id: job.id,
      attempt: job.attempt,
      payload,
      job,
      earlier,
      upstream: upstream ?? null,
      signal: this.#abort.signal,
      note: async (upstreamRef) => {
        const input = { ...this.#key, leaseMs: this.#leaseMs(), upstreamRef };
        const { outcome } = await this.#context.service.jobs.extend(input);
        this.#heed(outcome);
      },
      handOver: (options) => this.#handOver(options),
    };
  }

  async #handOver(options: { upstreamRef?: string | undefined; deadlineMs?: number | undefined }): Promise<void> {
    const { upstreamRef, deadlineMs } = options;
    const input = {
      ...this.#key,
      ...(upstreamRef === undefined ? {} : { upstreamRef }),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    };
    // Until it is heard: a lost answer must not look like a failure of what the provider is working on.
    const { outcome } = await this.#untilHeard(() => this.#context.service.jobs.handOver(input, ONCE));
    // Also when it came too late: then the attempt is not this run's any more, and its callback answers for itself.
    this.#handedOver = true;
    if (outcome !== 'handed_over' && outcome !== 'duplicate') this.#heed(outcome);
  }

  /** The length of this lease: extended by the same, whatever the queue's setting has become. */
  #leaseMs(): number {
    const { leaseUntil, startedAt } = this.#leased.job;
    const length = Date.parse(leaseUntil ?? '') - Date.parse(startedAt ?? '');
    return Math.min(Math.max(length || 0, 100), 86_400_000);
  }

  /** What an answer of extend means for the run. */
  #heed(outcome: string): void {
    if (outcome === 'stale') this.abort('lease_lost');
    else if (outcome === 'canceled') this.abort('canceled');
    else if (outcome === 'succeeded') this.abort('succeeded');
  }

  /**
   * Extends at a third of the lease, at once where it began some time ago. Where no extension gets through for the length of
   * a lease, the run must assume that it is lost. Only durations are measured here: instants are the database's.
   */
  #keepLease(): { stop(): Promise<void> } {
    const leaseMs = this.#leaseMs();
    const stop = new AbortController();
    const ended = () => this.#handedOver || this.#over || stop.signal.aborted;
    const loop = async () => {
      let heard = performance.now();
      let pause = this.#context.askedAgain ? 0 : leaseMs / 3;
      for (let tries = 0; ; ) {
        await sleep(pause, stop.signal, { background: true });
        if (ended()) return;
        const asked = performance.now();
        try {
          const options = { ...ONCE, timeoutMs: Math.max(leaseMs / 3, 100), signal: stop.signal };
          const { outcome } = await this.#context.service.jobs.extend({ ...this.#key, leaseMs }, options);
          if (ended()) return;
          this.#heed(outcome);
          if (outcome !== 'extended') return;
          heard = asked;
          tries = 0;
          pause = leaseMs / 3;
        } catch (error) {
          if (ended()) return;
          tries += 1;
          pause = Math.min(pauseMs(tries), leaseMs / 3);
          if (!asRecoupError(error).retryable) this.#context.onError(error as Error);
          if (performance.now() - heard > leaseMs) this.abort('lease_lost');
        }
      }
    };
    const running = loop();
    return {
      stop: () => {
        stop.abort();
        return running;
      },
    };
  }

  async #report(ending: Ending): Promise<void> {
    if (this.#handedOver) {
      if ('threw' in ending)
        this.#context.onError(new Error('a handler failed after it had handed its job over', { cause: ending.threw }));
      return;
    }
    await this.#untilHeard(() => ('returned' in ending ? this.#succeed(ending.returned) : this.#fail(ending.threw)));
  }

  #succeed(returned: unknown): Promise<void> {
    const done = returned instanceof Done ? returned : new Done(returned);
    return this.#reports.succeed(done instanceof CheckedDone ? done.attempt : this.#key.attempt, done);
  }

  async #fail(threw: unknown): Promise<void> {
    if (await this.#reports.answered(threw)) return;
    const cause = this.#abort.signal.aborted ? (this.#abort.signal.reason as Aborted).cause : undefined;
    // Not this run's job any more: of what it could say only a definitive failure of its attempt would be heard.
    if (cause === 'canceled' || cause === 'succeeded' || (cause === 'lease_lost' && !isDefinitive(threw))) return;
    const givenBack = threw instanceof Release || (cause === 'shutdown' && !isDefinitive(threw));
    if (givenBack && (await this.#reports.release(threw))) return;
    await this.#reports.fail(threw);
  }

  /** Reports again for as long as the service does not answer; if this process goes first, the lease recovers the job. */
  async #untilHeard<T>(report: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await report();
      } catch (error) {
        const again = error instanceof RecoupError && (error.retryable || error.code === 'unexpected_answer');
        if (!again || this.#giveUp.signal.aborted) throw error;
        await sleep(pauseMs(tries, error.retryAfterMs), this.#giveUp.signal);
      }
    }
  }
}

const isDefinitive = (threw: unknown): boolean => threw instanceof Failure && threw.verdict === 'definitive';

/** The success of an earlier attempt, found by `check`. */
class CheckedDone extends Done {
  readonly attempt: number;
  constructor(attempt: number, result: unknown, options: { finalPrice?: number }) {
    super(result, options);
    this.attempt = attempt;
  }
}
