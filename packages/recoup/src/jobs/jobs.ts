// The jobs of a handle: every signal a caller may send, single and in batches, and the reads beside them.
import { dateOr } from '../db/instants.ts';
import type { Runner } from '../db/runner.ts';
import type { Tracer } from '../db/tracing.ts';
import { Refusal } from '../errors.ts';
import * as check from '../input.ts';
import type { Outcome } from '../outcomes.ts';
import { afterExpiry } from '../wallets/expire.ts';
import { refusalOf } from '../wallets/wallets.ts';
import { Answers, type Capacity } from './answered.ts';
import { type CancelRow, cancelJob } from './cancel.ts';
import { DeadLetters } from './dead-letters.ts';
import { extendJob } from './extend.ts';
import { type FailRow, failJob } from './fail.ts';
import { handOverJob } from './hand-over.ts';
import * as checked from './inputs.ts';
import { decodeJob, type Job } from './job.ts';
import { Leasing } from './leasing.ts';
import { type ListOptions, listPage } from './list.ts';
import { countPrunable, type Prune, pruneInput, pruneJobs } from './prune.ts';
import { type Attempt, decodeAttempt, getJob, jobAttempts, jobsByUpstreamRef } from './queries.ts';
import { releaseJob } from './release.ts';
import { type SettleRow, settleJob } from './settle.ts';
import type * as signals from './signals.ts';
import { submitJob } from './submit.ts';
import { submitted } from './submitted.ts';
import { type SucceedRow, succeedJob } from './succeed.ts';

/** Told when a queue may have something to do. */
export type Wake = (queue: string) => void;

const one = <T>(answer: T | Refusal): T => {
  if (answer instanceof Refusal) throw answer;
  return answer;
};
/** The key of a checked input. After an await only this is read: the caller may have changed what he gave. */
type KeyRow = { wallet_id: string; id: string };
const named = (row: KeyRow) => ({ wallet: row.wallet_id, job: row.id });

/** The functions of one runner: of the handle, or of a transaction. */
export class Jobs {
  readonly deadLetters: DeadLetters;
  readonly #runner: Runner;
  readonly #wake: Wake;
  readonly #tracer: Tracer | undefined;
  readonly #leasing: Leasing;
  readonly #answers: Answers;

  constructor(runner: Runner, wake: Wake, capacity: Capacity, tracer?: Tracer) {
    this.#runner = runner;
    this.#wake = wake;
    this.#tracer = tracer;
    this.deadLetters = new DeadLetters(runner, wake);
    this.#leasing = new Leasing(runner, capacity.estimates);
    this.#answers = new Answers(runner, capacity, wake, (tx) => new Jobs(tx, () => {}, capacity, tracer));
  }

  /**
   * Charges the price and queues the job, in one statement. `charged`; `duplicate` gives the job back. Refuses `conflict`
   * (names what differs: price, queue or payload), `insufficient_credits` (the id is not burnt: submit again after a
   * top-up), `no_wallet`, `wallet_closed`, `pruned`, `wallet_busy`.
   */
  async submit(input: signals.Submit): Promise<signals.Submitted> {
    const row = checked.submitInput(input, this.#tracer?.traceparent());
    const first = await this.#runner.call(submitJob, row);
    const due = first.outcome === 'expiry_due';
    const answer = due ? (await afterExpiry(this.#runner, submitJob, [row]))[0]! : first;
    return one(await submitted(this.#runner, this.#wake, answer, row));
  }

  /** Submits a batch: an answer or a Refusal per item, as if they were submitted one by one. */
  async submitMany(inputs: readonly signals.Submit[]): Promise<signals.Each<signals.Submitted>> {
    const here = this.#tracer?.traceparent();
    const rows = check.items('submitMany', inputs, (input: signals.Submit) => checked.submitInput(input, here));
    const answers = await afterExpiry(this.#runner, submitJob, rows);
    return Promise.all(answers.map((answer, i) => submitted(this.#runner, this.#wake, answer, rows[i]!)));
  }

  /**
   * Takes due jobs of a queue: each is a new attempt of its job, the caller's until the lease ends; where the queue has a pool, each with
   * an upstream of it. An empty list means that nothing is due (or the queue is paused), or no upstream is usable: `claim` says which.
   */
  async lease(input: signals.Lease): Promise<signals.LeasedJob[]> {
    return (await this.claim(input)).jobs;
  }

  /** What `lease` does; and where jobs are due and no upstream of the queue's pool is usable, why, and when to ask again. */
  async claim(input: signals.Lease): Promise<signals.Claimed> {
    return this.#leasing.claim(checked.leaseInput(input));
  }

  /**
   * What the provider answered to an attempt that was leased with an upstream, for both in one transaction: it books the use, blocks the
   * upstream or frees it, and gives its slot back; the job has succeeded, goes back to its place in the queue where it was the upstream (no failure
   * counted, no refund), or failed for good where it was the job. Refuses what `succeed` and `fail` refuse.
   */
  async report(input: signals.Answer): Promise<signals.Answered> {
    return this.#answers.report(checked.answeredInput(input));
  }

  /** Keeps a lease. `extended`; `stale`: the attempt is not running any more; `canceled`, `succeeded`: the job ended. */
  async extend(input: signals.Extend): Promise<{ outcome: Outcome<'job.extend'>; leaseUntil: Date | null }> {
    const row = checked.extendInput(input);
    const answer = await this.#runner.call(extendJob, row);
    this.#refuse(answer, row);
    return { outcome: answer.outcome as Outcome<'job.extend'>, leaseUntil: dateOr(answer.lease_until) };
  }

  /**
   * The provider works on it: no lease any more, the callback ends the job, or its deadline does (one hour unless set).
   * `handed_over`, `duplicate`, `stale`, `canceled`, `succeeded`.
   */
  async handOver(input: signals.HandOver): Promise<{ outcome: Outcome<'job.handOver'>; deadlineAt: Date | null }> {
    const row = checked.handOverInput(input);
    const answer = await this.#runner.call(handOverJob, row);
    this.#refuse(answer, row);
    return { outcome: answer.outcome as Outcome<'job.handOver'>, deadlineAt: dateOr(answer.deadline_at) };
  }

  /**
   * Reports a failed attempt. `retrying`, `dead` or (without a queue) `refunded`; `duplicate`, `stale`, `succeeded` and
   * `canceled` change nothing. Refuses `attempt_required`, `no_job`, `pruned`.
   */
  async fail(input: signals.Fail): Promise<signals.Failed> {
    const row = checked.failInput(input);
    return one(this.#failed(await this.#runner.call(failJob, row), row));
  }

  async failMany(inputs: readonly signals.Fail[]): Promise<signals.Each<signals.Failed>> {
    const rows = check.items('failMany', inputs, checked.failInput);
    const answers = await this.#runner.many(failJob, rows);
    return answers.map((a, i) => (a instanceof Refusal ? a : this.#failed(a, rows[i]!)));
  }

  #failed(answer: FailRow, row: KeyRow): signals.Failed | Refusal {
    const refusal = refusalOf(answer, named(row));
    if (refusal) return refusal;
    if (answer.outcome === 'retrying') this.#wake(answer.queue!);
    return {
      outcome: answer.outcome as Outcome<'job.fail'>,
      state: answer.state as signals.Failed['state'],
      attempt: answer.attempt!,
      failures: answer.failures!,
      notBefore: dateOr(answer.not_before),
      refunded: answer.refunded,
    };
  }

  /**
   * The work is done, whoever says so and however late. `succeeded`; `reclaimed`: its refund was taken back; `duplicate`
   * gives back the first success. Refuses `canceled`: the result must not be handed out.
   */
  async succeed(input: signals.Succeed): Promise<signals.Succeeded> {
    const row = checked.succeedInput(input);
    return one(await this.#succeeded(await this.#runner.call(succeedJob, row), row));
  }

  async succeedMany(inputs: readonly signals.Succeed[]): Promise<signals.Each<signals.Succeeded>> {
    const rows = check.items('succeedMany', inputs, checked.succeedInput);
    const answers = await this.#runner.many(succeedJob, rows);
    return Promise.all(answers.map((a, i) => (a instanceof Refusal ? a : this.#succeeded(a, rows[i]!))));
  }

  async #succeeded(
    answer: SucceedRow,
    row: ReturnType<typeof checked.succeedInput>,
  ): Promise<signals.Succeeded | Refusal> {
    const key = named(row);
    if (answer.outcome === 'canceled') return new Refusal('canceled', undefined, key);
    const refusal = refusalOf(answer, key);
    if (refusal) return refusal;
    let finalPrice = answer.final_price;
    if (answer.outcome === 'duplicate' && finalPrice === null && row.new_final_price !== null) {
      const settled = await this.#settleLate(row, row.new_final_price);
      if (settled instanceof Refusal) return settled;
      finalPrice = settled;
    }
    return {
      outcome: answer.outcome as Outcome<'job.succeed'>,
      succeededAttempt: answer.succeeded_attempt!,
      succeededAt: new Date(answer.succeeded_at!),
      reclaimed: answer.reclaimed,
      finalPrice,
    };
  }

  /**
   * The first signal that ended the job did not know what it was worth, this one does: it settles, once, like any later
   * settle. Also what makes a call of two steps whole again whose second step was lost.
   */
  async #settleLate({ wallet_id, id }: KeyRow, finalPrice: number): Promise<number | null | Refusal> {
    try {
      const settled = await this.#runner.call(settleJob, { wallet_id, id, new_final_price: finalPrice });
      const lost = settled.outcome === 'pruned' || settled.outcome === 'balance_limit';
      return lost ? refusalOf(settled, named({ wallet_id, id }))! : settled.final_price;
    } catch (error) {
      if (error instanceof Refusal && !this.#runner.db.inTransaction) return error;
      throw error;
    }
  }

  /** Books what an ended job turned out to be worth. `settled`, `duplicate`. Refuses `conflict` (another final price), `not_ended`. */
  async settle(input: signals.JobKey & { finalPrice: number }): Promise<signals.Settled> {
    check.onlyFields('settle', input, ['wallet', 'job', 'finalPrice']);
    const row = { ...checked.keyOf(input), new_final_price: check.amount('finalPrice', input.finalPrice) };
    const answer: SettleRow = await this.#runner.call(settleJob, row);
    const settled = answer.outcome === 'conflict' ? { finalPrice: answer.final_price } : {};
    this.#refuse(answer, row, settled);
    return {
      outcome: answer.outcome as Outcome<'job.settle'>,
      finalPrice: answer.final_price!,
      amount: answer.amount!,
    };
  }

  /**
   * Gives a job up. `canceled`; `duplicate` (a repeat that first says what is kept settles it); `succeeded`: too late, it
   * is done and paid for.
   */
  async cancel(input: signals.Cancel): Promise<signals.Canceled> {
    const row = checked.cancelInput(input);
    const answer: CancelRow = await this.#runner.call(cancelJob, row);
    this.#refuse(answer, row);
    let kept = answer.kept;
    if (answer.outcome === 'duplicate' && kept === null && row.kept !== null) {
      kept = one(await this.#settleLate(row, row.kept));
    }
    return {
      outcome: answer.outcome as Outcome<'job.cancel'>,
      state: answer.state as signals.Canceled['state'],
      refunded: answer.refunded,
      kept,
    };
  }

  /** Gives an attempt back unfinished: queued again, no failure, no refund. Refuses `release_limit`. */
  async release(input: signals.Release): Promise<{ outcome: Outcome<'job.release'>; notBefore: Date | null }> {
    const row = checked.releaseInput(input);
    const answer = await this.#runner.call(releaseJob, row);
    this.#refuse(answer, row);
    return { outcome: answer.outcome as Outcome<'job.release'>, notBefore: dateOr(answer.not_before) };
  }

  /** One job with its payload and result. Refuses `no_job`, also for a pruned one. */
  async get(key: signals.JobKey): Promise<{ job: Job; payload: unknown; result: unknown }> {
    const row = checked.onlyKey(key);
    const [found] = await this.#runner.read(getJob, [row]);
    if (!found?.job) throw new Refusal('no_job', undefined, named(row));
    return { job: decodeJob(found.job), payload: found.payload, result: found.result };
  }

  /** How the attempts of a job ended, in the order in which it became known. */
  async attempts(key: signals.JobKey): Promise<Attempt[]> {
    return (await this.#runner.read(jobAttempts, [checked.onlyKey(key)])).map(decodeAttempt);
  }

  /**
   * The jobs of a wallet, newest first, those of a `state` or `queue` where one is given: a page of at most `limit` (1 to
   * 1,000; 100 unless set). `cursor` goes on, null: that was all; a page of a filter may hold fewer, or none, and go on.
   * Jobs whose rows were pruned are not in it. Refuses `no_wallet`.
   */
  async list(wallet: string, options: ListOptions = {}): Promise<{ jobs: Job[]; cursor: number | null }> {
    return listPage(this.#runner, wallet, options);
  }

  /** The jobs that carry an upstream's reference, each with the attempt it belongs to. */
  async byUpstreamRef(upstreamRef: string): Promise<{ job: Job; attempt: number }[]> {
    const found = await this.#runner.read(jobsByUpstreamRef, [{ upstream_ref: check.id('upstreamRef', upstreamRef) }]);
    return found.map(({ job, attempt }) => ({ job: decodeJob(job), attempt }));
  }

  /**
   * Deletes rows of jobs that succeeded or were canceled longer ago than this, at most `count`; returns how many. `dryRun`
   * deletes nothing and returns how many there are in all.
   */
  async prune(options: Prune): Promise<number> {
    const { dryRun, ...row } = pruneInput(options);
    const [answer] = await this.#runner.read(dryRun ? countPrunable : pruneJobs, [row]);
    const found = answer?.pruned ?? 0;
    if (found > 0 && !dryRun) this.#runner.observe('job.prune', 'pruned');
    return found;
  }

  #refuse(answer: { ord: number; outcome: string }, row: KeyRow, more: Record<string, unknown> = {}): void {
    const refusal = refusalOf(answer, { ...named(row), ...more });
    if (refusal) throw refusal;
  }
}
