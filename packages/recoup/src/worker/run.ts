// One attempt in a worker's hands: keeps its lease, runs the handler, reports what came of it until it is heard.
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../errors.ts';
import type { LeasedJob } from '../jobs/signals.ts';
import { type AbortCause, Aborted, type Checked, Done, Failure, type Handler, Release, type Work } from './handler.ts';
import { keepLease } from './lease.ts';
import type { WorkerContext, WorkOptions } from './worker.ts';

/** How the handler ended. */
type Ending = { returned: unknown } | { threw: unknown };

export class Run {
  /** Resolves when the attempt's end is reported, or does not need to be. Never rejects. */
  readonly reported: Promise<void>;
  readonly #leased: LeasedJob;
  readonly #options: WorkOptions;
  readonly #context: WorkerContext;
  readonly #abort = new AbortController();
  /** The worker's time to drain is over: one more report, no waiting for a database that does not answer. */
  readonly #giveUp = new AbortController();
  readonly #key: { wallet: string; job: string; attempt: number };
  #handedOver = false;
  #over = false;

  constructor(leased: LeasedJob, handler: Handler, options: WorkOptions, context: WorkerContext) {
    this.#leased = leased;
    this.#options = options;
    this.#context = context;
    this.#key = { wallet: leased.job.wallet, job: leased.job.id, attempt: leased.job.attempt };
    const run = () => this.#run(handler).catch((error: unknown) => context.onError(error as Error));
    const { tracer } = context;
    this.reported = (tracer ? tracer.handle(leased.job, run) : run()).then(() => {});
  }

  abort(cause: AbortCause): void {
    if (cause === 'shutdown') this.#giveUp.abort();
    if (!this.#abort.signal.aborted) this.#abort.abort(new Aborted(cause));
  }

  /** Gives what the handler threw, or undefined. */
  async #run(handler: Handler): Promise<unknown> {
    const { signal } = this.#abort;
    const keeping = this.#keepLease();
    const timeoutMs = this.#options.timeoutMs;
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.abort('timeout'), timeoutMs);
    const ending = this.#handle(handler);
    // Aborted, the handler gets a moment to end by itself; then the worker reports without it.
    const aborted = new Promise<undefined>((done) => {
      const later = () =>
        void sleep(this.#options.graceMs ?? 1000, undefined, { ref: false }).then(() => done(undefined));
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
      return first === undefined ? signal.reason : 'threw' in first ? first.threw : undefined;
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
      const finalPrice = found.finalPrice;
      return new CheckedDone(
        earlier?.attempt ?? this.#key.attempt,
        found.result,
        finalPrice === undefined ? {} : { finalPrice },
      );
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
        const { outcome } = await this.#context.jobs.extend({ ...this.#key, ...this.#leaseMs(), upstreamRef });
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
    const { outcome } = await this.#untilHeard(() => this.#context.jobs.handOver(input));
    // Also when it came too late: then the attempt is not this run's any more, and its callback answers for itself.
    this.#handedOver = true;
    if (outcome !== 'handed_over' && outcome !== 'duplicate') this.#heed(outcome);
  }

  /** The length of this lease: extended by the same, whatever the queue's setting has become. */
  #leaseMs(): { leaseMs: number } {
    const { leaseUntil, startedAt } = this.#leased.job;
    const length = (leaseUntil?.getTime() ?? 0) - (startedAt?.getTime() ?? 0);
    return { leaseMs: Math.min(Math.max(length, 100), 86_400_000) };
  }

  /** What an answer of extend means for the run. */
  #heed(outcome: string): void {
    if (outcome === 'stale') this.abort('lease_lost');
    else if (outcome === 'canceled') this.abort('canceled');
    else if (outcome === 'succeeded') this.abort('succeeded');
  }

  #keepLease(): { stop(): Promise<void> } {
    return keepLease({
      length: this.#leaseMs().leaseMs,
      extend: () => this.#context.jobs.extend({ ...this.#key, ...this.#leaseMs() }),
      ended: () => this.#handedOver || this.#over,
      onOutcome: (outcome) => this.#heed(outcome),
      onLost: () => this.abort('lease_lost'),
      onError: this.#context.onError,
    });
  }

  async #report(ending: Ending): Promise<void> {
    if (this.#handedOver) {
      if ('threw' in ending)
        this.#context.onError(new Error('a handler failed after it had handed its job over', { cause: ending.threw }));
      return;
    }
    await this.#untilHeard(() => ('returned' in ending ? this.#succeed(ending.returned) : this.#fail(ending.threw)));
  }

  async #succeed(returned: unknown): Promise<void> {
    const done = returned instanceof Done ? returned : new Done(returned);
    const attempt = done instanceof CheckedDone ? done.attempt : this.#key.attempt;
    const key = { ...this.#key, attempt };
    const { finalPrice, upstreamRef } = done;
    const result = done.result === undefined ? null : done.result;
    const more = {
      ...(finalPrice === undefined ? {} : { finalPrice }),
      ...(upstreamRef === undefined ? {} : { upstreamRef }),
    };
    // What was done with an upstream says that it works; what a check has found was done before.
    const joined = this.#leased.upstream && !(done instanceof CheckedDone);
    const said = { answer: done.answer ?? { status: 200 }, ...(done.use && { use: done.use }) };
    try {
      if (joined) await this.#context.jobs.report({ ...key, result, ...more, ...said });
      else await this.#context.jobs.succeed({ ...key, result, ...more });
    } catch (error) {
      // Canceled meanwhile: the result must not be handed out, and nothing is left to report.
      if (error instanceof Refusal && (error.code === 'canceled' || error.code === 'pruned')) return;
      if (!isInvalid(error)) throw error;
      this.#context.onError(error);
      // The work was done, whatever is wrong with what the handler told beside its result: that can be told later.
      if (!isOfResult(error)) await this.#context.jobs.succeed({ ...key, result });
      // A result that cannot be kept: a failure that another run would only repeat.
      else await this.#fail(new Failure(error.message, { verdict: 'definitive', retryable: false, cause: error }));
    }
  }

  async #fail(threw: unknown): Promise<void> {
    const { jobs } = this.#context;
    if (await this.#failWith(threw)) return;
    const cause = this.#abort.signal.aborted ? (this.#abort.signal.reason as Aborted).cause : undefined;
    // Not this run's job any more: of what it could say only a definitive failure of its attempt would be heard.
    if (cause === 'canceled' || cause === 'succeeded' || (cause === 'lease_lost' && !isDefinitive(threw))) return;
    const reason = inWords(threw);
    if (threw instanceof Release || (cause === 'shutdown' && !isDefinitive(threw))) {
      const delayMs = threw instanceof Release ? threw.delayMs : undefined;
      try {
        await jobs.release({ ...this.#key, reason, ...(delayMs === undefined ? {} : { delayMs }) });
        return;
      } catch (error) {
        // Given back as often as the queue allows, or with a delay that is none: then it counts as a failure.
        if (isInvalid(error)) this.#context.onError(error);
        else if (!(error instanceof Refusal && error.code === 'release_limit')) throw error;
      }
    }
    const failure = threw instanceof Failure ? threw : new Failure(reason);
    const { verdict, retryable, retryAfterMs, upstreamRef } = failure;
    const report = { ...this.#key, verdict, retryable, reason: inWords(failure) };
    try {
      await jobs.fail({
        ...report,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.round(retryAfterMs) }),
        ...(upstreamRef === undefined ? {} : { upstreamRef }),
      });
    } catch (error) {
      if (!isInvalid(error)) throw error;
      // The failure stands, whatever was wrong with what the handler told of it.
      this.#context.onError(error);
      await jobs.fail({
        ...report,
        verdict: isDefinitive(failure) ? 'definitive' : 'presumed',
        retryable: retryable !== false,
      });
    }
  }

  /** With what the provider answered, whoever has the job now: it is news of the upstream in any case. Whether there was such an answer. */
  async #failWith(threw: unknown): Promise<boolean> {
    if (!(threw instanceof Failure && threw.answer && this.#leased.upstream)) return false;
    const { answer, upstreamRef } = threw;
    try {
      await this.#context.jobs.report({ ...this.#key, answer, ...(upstreamRef === undefined ? {} : { upstreamRef }) });
    } catch (error) {
      if (error instanceof Refusal && error.code === 'canceled') return true;
      if (!isInvalid(error)) throw error;
      // The failure stands, whatever was wrong with the answer.
      this.#context.onError(error);
      return false;
    }
    return true;
  }

  /** Reports again for as long as the database does not answer; if this process goes first, the lease recovers the job. */
  async #untilHeard<T>(report: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await report();
      } catch (error) {
        const retryable = error instanceof Refusal && error.retryable && error.code !== 'closed';
        if (!retryable || this.#giveUp.signal.aborted) throw error;
        await sleep(Math.min(100 * 2 ** Math.min(tries, 10), 5000), undefined, { signal: this.#giveUp.signal }).catch(
          () => {},
        );
      }
    }
  }
}

/** What was thrown, in words; a handler may throw anything, also what cannot be read. */
function inWords(threw: unknown): string {
  try {
    return threw instanceof Error ? String(threw.message || threw.name) : String(threw);
  } catch {
    return 'something that cannot be printed';
  }
}

/** Refused for what it said, not for what it is about. By code: a refusal that came over a wire has no other class. */
const isInvalid = (error: unknown): error is Refusal =>
  error instanceof Refusal && (error.code === 'invalid' || error.code === 'too_large');

const isOfResult = ({ code, details }: Refusal): boolean =>
  code === 'too_large' || /^(result|body)/.test(String(details.field));

const isDefinitive = (threw: unknown): boolean => threw instanceof Failure && threw.verdict === 'definitive';

/** The success of an earlier attempt, found by `check`. */
class CheckedDone extends Done {
  readonly attempt: number;
  constructor(attempt: number, result: unknown, options: { finalPrice?: number }) {
    super(result, options);
    this.attempt = attempt;
  }
}
