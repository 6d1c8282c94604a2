// Leases of a handle: jobs alone, or each with an upstream where its queue has a pool, found out by asking.
import type { Runner } from '../db/runner.ts';
import type { Estimates } from '../upstreams/estimates.ts';
import { Claims } from './claims.ts';
import type { leaseInput } from './inputs.ts';
import { decodeJob } from './job.ts';
import type { LeasedRow } from './lease.ts';
import { PooledClaims } from './pooled-claims.ts';
import type { Claimed, LeasedJob } from './signals.ts';

const MAX_QUEUES = 10_000;

export class Leasing {
  readonly #runner: Runner;
  readonly #claims = new Claims();
  readonly #pooled: PooledClaims;
  /** Queues that had a pool when they were asked last: a guess, the statements look. */
  readonly #withPool = new Set<string>();

  constructor(runner: Runner, estimates: Estimates) {
    this.#runner = runner;
    this.#pooled = new PooledClaims(runner, estimates);
  }

  async claim(row: ReturnType<typeof leaseInput>): Promise<Claimed> {
    // Somebody may give the queue a pool, and take it away again, in between: never more than a few times.
    for (;;) {
      if (this.#withPool.has(row.queue)) {
        const found = await this.#pooled.claim(row);
        if (found !== 'plain') return { jobs: found.jobs.map(decodeLeased), out: found.out };
        this.#withPool.delete(row.queue);
      }
      const { model: _, capability: __, ...plain } = row;
      const jobs = await this.#claims.claim(this.#runner, plain);
      if (jobs !== 'pooled') return { jobs: jobs.map(decodeLeased), out: null };
      if (this.#withPool.size > MAX_QUEUES) this.#withPool.clear();
      this.#withPool.add(row.queue);
    }
  }
}

const decodeLeased = ({ job, payload, earlier, upstream }: LeasedRow): LeasedJob => ({
  job: decodeJob(job),
  payload,
  earlier,
  upstream: upstream ?? null,
});
