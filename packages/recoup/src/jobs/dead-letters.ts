// Dead letters are for people: list them, look at what a redrive would do, redrive or discard one or a filter.
import type { Runner } from '../db/runner.ts';
import { InvalidInput, Refusal } from '../errors.ts';
import * as check from '../input.ts';
import type { Outcome } from '../outcomes.ts';
import { refusalOf } from '../wallets/wallets.ts';
import { seenKey } from './inputs.ts';
import { decodeJob, type Job } from './job.ts';
import { listDeadLetters, previewRedrive, type RedrivePreview } from './queries.ts';
import { discardJob, redriveJob } from './redrive.ts';
import type { JobKey } from './signals.ts';

/** Which dead letters: all that are given must match. */
export interface DeadLetterFilter {
  queue?: string;
  wallet?: string;
  /** The exact reason of the last failure. */
  reason?: string;
  /** Dead by this instant; what died later is not touched. */
  asOf?: Date;
}

export interface RedriveAll {
  /** The count that the preview showed: another number refuses `count_changed`, so that nobody redrives what he did not see. */
  confirm: number;
  signal?: AbortSignal;
  onProgress?: (done: number, of: number) => void;
}

const PAGE = 200;

const filterInput = (filter: DeadLetterFilter) => {
  check.onlyFields('filter', filter, ['queue', 'wallet', 'reason', 'asOf']);
  return {
    queue: check.optionalId('queue', filter.queue),
    wallet_id: check.optionalId('wallet', filter.wallet),
    reason: check.text('reason', filter.reason, 2000),
    dead_before: check.instant('asOf', filter.asOf),
  };
};

export class DeadLetters {
  readonly #runner: Runner;
  readonly #wake: (queue: string) => void;

  constructor(runner: Runner, wake: (queue: string) => void) {
    this.#runner = runner;
    this.#wake = wake;
  }

  /** Dead letters of a filter, oldest first. */
  async *list(filter: DeadLetterFilter = {}): AsyncGenerator<Job> {
    for await (const page of this.#pages(filterInput(filter))) for (const { job } of page) yield decodeJob(job);
  }

  /** One page of them: `cursor` continues behind the last one (null: that was all). At most `limit`, 1 to 1,000. */
  async page(
    filter: DeadLetterFilter = {},
    options: { cursor?: string | null; limit?: number } = {},
  ): Promise<{ jobs: Job[]; cursor: string | null }> {
    check.onlyFields('page', options, ['cursor', 'limit']);
    const count = check.optionalInteger('limit', options.limit, 1, 1000) ?? PAGE;
    const [after_at, after_wallet, after_id] = decode(options.cursor ?? null);
    const input = { ...filterInput(filter), after_at, after_wallet, after_id, count };
    const rows = await this.#runner.read(listDeadLetters, [input]);
    const last = rows.length === count ? rows.at(-1) : undefined;
    return { jobs: rows.map(({ job }) => decodeJob(job)), cursor: last ? encode(last.cursor) : null };
  }

  async *#pages(input: ReturnType<typeof filterInput>) {
    let cursor: readonly (string | null)[] = [null, null, null];
    while (true) {
      const [after_at, after_wallet, after_id] = cursor;
      const rows = await this.#runner.read(listDeadLetters, [
        { ...input, after_at, after_wallet, after_id, count: PAGE },
      ]);
      if (rows.length > 0) yield rows;
      if (rows.length < PAGE) return;
      cursor = rows.at(-1)!.cursor;
    }
  }

  /** What redriving a filter would do: how many, what may be reclaimed, which wallets would go into debt. Changes nothing. */
  async preview(filter: DeadLetterFilter = {}): Promise<Omit<RedrivePreview, 'asOf'> & { asOf: Date }> {
    const [answer] = await this.#runner.read(previewRedrive, [filterInput(filter)]);
    // A Date has milliseconds: the next one, so that what died within this one is in.
    return { ...answer!, asOf: new Date(new Date(answer!.asOf).getTime() + 1) };
  }

  /**
   * Runs a dead or discarded job again. `redriven`, `duplicate`, `canceled`, `succeeded`. Refuses `not_dead`. Never charges.
   * With the attempt that the person saw, a repeat of the call that arrives after the job has run again is `stale`.
   */
  async redrive(key: JobKey & { attempt?: number }): Promise<{ outcome: Outcome<'job.redrive'> }> {
    const row = seenKey(key);
    const answer = await this.#runner.call(redriveJob, row);
    if (answer.outcome === 'redriven') this.#wake('');
    return this.#answer(answer, row) as { outcome: Outcome<'job.redrive'> };
  }

  /**
   * Redrives a filter, in small steps, oldest first. Refuses `count_changed` where the number of matching dead letters
   * is not the confirmed one. Returns how many were redriven and how many somebody else had moved meanwhile.
   */
  async redriveAll(filter: DeadLetterFilter, options: RedriveAll): Promise<{ redriven: number; skipped: number }> {
    check.onlyFields('redriveAll', options, ['confirm', 'signal', 'onProgress']);
    const confirm = check.integer('confirm', options.confirm, 0, check.MAX_AMOUNT);
    const input = filterInput(filter);
    const [preview] = await this.#runner.read(previewRedrive, [input]);
    if (preview!.count !== confirm) {
      const message = `${preview!.count} dead letters match, ${confirm} were confirmed.`;
      throw new Refusal('count_changed', message, { count: preview!.count, confirm });
    }
    let redriven = 0;
    let skipped = 0;
    for await (const page of this.#pages({ ...input, dead_before: preview!.asOf })) {
      options.signal?.throwIfAborted();
      const answers = await this.#runner.many(
        redriveJob,
        page.map(({ attempt: n, cursor: [, wallet_id, id] }) => ({ wallet_id, id, n })),
      );
      const moved = answers.filter((answer) => !(answer instanceof Refusal) && answer.outcome === 'redriven').length;
      redriven += moved;
      skipped += page.length - moved;
      options.onProgress?.(redriven + skipped, confirm);
    }
    if (redriven > 0) this.#wake('');
    return { redriven, skipped };
  }

  /** Puts a dead letter aside: it will not run, a late success still reclaims. Refuses `not_dead`. */
  async discard(key: JobKey & { attempt?: number }): Promise<{ outcome: Outcome<'job.discard'> }> {
    const row = seenKey(key);
    return this.#answer(await this.#runner.call(discardJob, row), row) as { outcome: Outcome<'job.discard'> };
  }

  #answer(answer: { ord: number; outcome: string }, row: { wallet_id: string; id: string }): { outcome: string } {
    const refusal = refusalOf(answer, { wallet: row.wallet_id, job: row.id });
    if (refusal) throw refusal;
    return { outcome: answer.outcome };
  }
}

const encode = (cursor: readonly string[]) => Buffer.from(JSON.stringify(cursor)).toString('base64url');

function decode(cursor: string | null): readonly (string | null)[] {
  if (cursor === null) return [null, null, null];
  try {
    const parts = JSON.parse(
      Buffer.from(check.text('cursor', cursor, 2000) ?? '', 'base64url').toString(),
    ) as unknown[];
    const [at, wallet, job] = parts;
    if (parts.length === 3 && isInstant(at)) return [at, check.id('wallet', wallet), check.id('job', job)];
  } catch {
    // Falls through to the refusal.
  }
  throw new InvalidInput('cursor', 'must be a cursor that a page of dead letters gave');
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d(:\d\d)?)$/;

/** Whether PostgreSQL can read it: a day that is in the calendar, a time that is on the clock. */
function isInstant(value: unknown): value is string {
  if (typeof value !== 'string' || !INSTANT.test(value)) return false;
  const day = value.slice(0, 10);
  const at = new Date(`${value.slice(0, 19)}Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day);
}
