// Where claims start reading: behind what this process claimed lately, so that dead index entries cost nothing.
import type { Runner } from '../db/runner.ts';
import { Refusal } from '../errors.ts';
import { type LeasedRow, leaseJobs } from './lease.ts';

interface ClaimInput {
  queue: string;
  count: number;
  worker: string | null;
  lease_ms: number | null;
  request_id: string | null;
}

interface Marks {
  at: Record<string, string>;
  /** When a claim last read from the beginning, on the process's monotonic clock. */
  unboundedAt: number;
}

/** How often a claim reads from the beginning of the index in any case, in ms. */
const UNBOUNDED_EVERY = 1000;
const MAX_QUEUES = 10_000;

/**
 * Claimed jobs leave dead entries at the front of the queue's index; while a snapshot is held open anywhere, vacuum
 * cannot take them away. A bounded claim starts at the marks. The marks trail by 30 s, for a submit inside a long
 * transaction commits behind them; what is older still is found by the unbounded claim, once a second and whenever
 * fewer came back than were asked for.
 */
export class Claims {
  readonly #marks = new Map<string, Marks>();

  async claim(runner: Runner, input: ClaimInput): Promise<LeasedRow[] | 'pooled'> {
    const marks = this.#marks.get(input.queue);
    const bounded = marks !== undefined && performance.now() - marks.unboundedAt < UNBOUNDED_EVERY;
    if (bounded) {
      const jobs = await this.#run(runner, input, marks.at);
      if (jobs === 'pooled') return jobs;
      if (jobs.length === input.count || (input.request_id !== null && jobs.length > 0)) return jobs;
      const more = await this.#run(runner, { ...input, count: input.count - jobs.length }, null);
      // It has a pool since a moment ago: what was got is kept.
      return more === 'pooled' ? jobs : [...jobs, ...more];
    }
    return this.#run(runner, input, null);
  }

  async #run(runner: Runner, input: ClaimInput, marks: Record<string, string> | null): Promise<LeasedRow[] | 'pooled'> {
    let looked = false;
    for (let round = 0; round < 100; round++) {
      const [answer] = await runner.read(leaseJobs, [{ ...input, marks }]);
      if (answer?.outcome !== 'leased') continue;
      if (answer.pooled) return 'pooled';
      if (answer.passed && !looked) {
        looked = true;
        continue;
      }
      this.#remember(input.queue, answer.marks, marks === null);
      for (const _job of answer.jobs) runner.observe('job.lease', 'leased');
      return answer.jobs;
    }
    throw new Refusal('wallet_busy');
  }

  #remember(queue: string, taken: Record<string, string> | null, unbounded: boolean): void {
    if (this.#marks.size > MAX_QUEUES) this.#marks.clear();
    const marks = this.#marks.get(queue) ?? { at: {}, unboundedAt: Number.NEGATIVE_INFINITY };
    for (const [priority, at] of Object.entries(taken ?? {})) marks.at[priority] = at;
    if (unbounded) marks.unboundedAt = performance.now();
    this.#marks.set(queue, marks);
  }
}
