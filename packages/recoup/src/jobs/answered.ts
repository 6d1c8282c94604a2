// What a provider answered to an attempt, told to its upstream and its job in one transaction: done, failed, or back to its place.
import { setTimeout as sleep } from 'node:timers/promises';
import { dateOr } from '../db/instants.ts';
import type { Runner } from '../db/runner.ts';
import { InvalidInput, Refusal } from '../errors.ts';
import type { Outcome } from '../outcomes.ts';
import type { Estimates } from '../upstreams/estimates.ts';
import { type Decoding, type Reported, Reporting } from '../upstreams/reporting.ts';
import { refusalOf } from '../wallets/wallets.ts';
import { type HoldRow, holdJob } from './hold.ts';
import { type answeredInput, MAX_REASON } from './inputs.ts';
import type { Jobs } from './jobs.ts';
import { releaseJob } from './release.ts';
import type { Answered } from './signals.ts';

/** What the jobs of a handle need to know of its upstreams. */
export interface Capacity {
  decoding: Decoding;
  estimates: Estimates;
  /** How long a report may wait for a job that another transaction holds. */
  lockTimeoutMs: number;
  /** Runs `work` in a transaction of its own; in the caller's where there is one. */
  transact: <T>(work: (runner: Runner) => Promise<T>) => Promise<T>;
}

type Row = ReturnType<typeof answeredInput>;
type Signals = Pick<Jobs, 'succeed' | 'fail'>;
/** A refusal that leaves standing what the answer said of the upstream. */
type Within = { answered: Answered; queue: string | null } | { refused: Refusal } | 'busy';

/**
 * Trouble that the job itself may have brought about: a payload that makes a provider stumble, or a proxy refuse. It would take out one
 * upstream after the other, so that the queue puts up with few of it. A limit, a bill or a key is never about the job.
 */
const MAY_BLAME: readonly string[] = ['server_error', 'cdn_or_proxy'];
/** What the job is told beside the answer: the upstream's use counts, whatever is refused then. */
const STANDS: readonly string[] = ['canceled', 'balance_limit', 'conflict'];

/** Says how an attempt that was leased with an upstream went, by what the provider answered. */
export class Answers {
  readonly #runner: Runner;
  readonly #capacity: Capacity;
  readonly #wake: (queue: string) => void;
  readonly #jobsOf: (runner: Runner) => Signals;

  constructor(runner: Runner, capacity: Capacity, wake: (queue: string) => void, jobsOf: (runner: Runner) => Signals) {
    this.#runner = runner;
    this.#capacity = capacity;
    this.#wake = wake;
    this.#jobsOf = jobsOf;
  }

  async report(row: Row): Promise<Answered> {
    const { transact, lockTimeoutMs } = this.#capacity;
    const end = performance.now() + lockTimeoutMs;
    for (;;) {
      const done = await transact((tx) => this.#within(tx, row));
      if (done !== 'busy') {
        if ('refused' in done) throw done.refused;
        // Its slot is free, and it may be queued again.
        if (done.queue !== null) this.#wake(done.queue);
        return done.answered;
      }
      // Waited for without a connection: who holds a job for long holds up its own reports and no others.
      if (performance.now() > end) throw new Refusal('wallet_busy', undefined, { wallet: row.wallet_id });
      await sleep(5 + Math.random() * 20);
    }
  }

  /** Wallet and job first, then the upstream, then what becomes of the job, which nobody has touched meanwhile. */
  async #within(tx: Runner, row: Row): Promise<Within> {
    const held = await this.#hold(tx, row);
    if (held.outcome === 'busy') return 'busy';
    const key = { wallet: row.wallet_id, job: row.id };
    const refusal = refusalOf(held, key);
    if (refusal) return { refused: refusal };
    if (held.upstream === null)
      throw new InvalidInput('attempt', `${row.n} was not leased with an upstream: report it with succeed or fail`);
    this.#knows(held.upstream, held.provider!);
    const upstream = await new Reporting(tx, this.#capacity.decoding).report({
      upstream: held.upstream,
      lease: held.slot,
      answer: row.answer,
      ...usedFor(held.scopes),
      ...(row.use && { use: row.use }),
    });
    try {
      const answered = await this.#job(tx, row, upstream);
      return { answered: { ...answered, upstream }, queue: held.queue };
    } catch (error) {
      if (error instanceof Refusal && STANDS.includes(error.code)) return { refused: error };
      throw error;
    }
  }

  /** In a transaction of ours a row that is held is passed over: it is waited for outside. */
  async #hold(tx: Runner, { wallet_id, id, n }: Row): Promise<HoldRow> {
    const input = { wallet_id, id, n };
    const own = !this.#runner.db.inTransaction;
    const [held] = own
      ? await tx.db.run<HoldRow>(holdJob, JSON.stringify([input]), 'shared')
      : await tx.read(holdJob, [input]);
    return held!;
  }

  #knows(upstream: string, provider: string): void {
    const { providers } = this.#capacity.decoding;
    // Not from the caller's transaction: what is registered there may never have been.
    if (!this.#runner.db.inTransaction && !providers.has(upstream)) providers.set(upstream, provider);
  }

  async #job(tx: Runner, row: Row, upstream: Reported): Promise<Omit<Answered, 'upstream'>> {
    const attempt = { wallet: row.wallet_id, job: row.id, attempt: row.n };
    const ref = row.new_ref === null ? {} : { upstreamRef: row.new_ref };
    const jobs = this.#jobsOf(tx);
    if (upstream.class === null) {
      const { result, finalPrice } = row;
      const price = finalPrice === null ? {} : { finalPrice };
      const { outcome, reclaimed } = await jobs.succeed({ ...attempt, result, ...price, ...ref });
      return { means: 'success', outcome, notBefore: null, refunded: false, reclaimed };
    }
    const reason = [upstream.class, upstream.reason]
      .filter((one) => one)
      .join(': ')
      .slice(0, MAX_REASON);
    const aboutJob = upstream.class === 'request_scoped';
    const back = aboutJob ? null : await this.#back(tx, row, upstream.class, reason);
    if (back) return back;
    // About the job, and final; or given back as often as the queue allows: then it counts as a failure that nobody has explained.
    const verdict = aboutJob ? ('definitive' as const) : ('presumed' as const);
    const failed = await jobs.fail({ ...attempt, verdict, retryable: !aboutJob, reason, ...ref });
    const { outcome, notBefore, refunded } = failed;
    return { means: 'failure', outcome, notBefore, refunded, reclaimed: false };
  }

  /** Back to its place; null where it is not given back: not any more, or an earlier report has counted it as a failure. */
  async #back(tx: Runner, row: Row, kind: string, new_reason: string): Promise<Omit<Answered, 'upstream'> | null> {
    const { wallet_id, id, n, new_ref } = row;
    const may_blame = MAY_BLAME.includes(kind);
    const input = { wallet_id, id, n, new_reason, new_ref, by_upstream: true, may_blame };
    const { outcome, not_before } = await tx.call(releaseJob, input);
    if (outcome === 'release_limit' || outcome === 'stale') return null;
    const notBefore = dateOr(not_before);
    return {
      means: 'release',
      outcome: outcome as Outcome<'job.release'>,
      notBefore,
      refunded: false,
      reclaimed: false,
    };
  }
}

/** The model and the capability that a slot was taken for. */
function usedFor(scopes: readonly string[] | null): { model?: string; capability?: string } {
  const named = (scopes ?? []).filter((scope) => scope !== '').map((scope) => scope.split(/:(.*)/s, 2));
  return Object.fromEntries(named);
}
