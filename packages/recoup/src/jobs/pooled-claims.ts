// Claims on queues with a pool: one pair of job and upstream after the other, again where others held what was free, and when to come back.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Runner } from '../db/runner.ts';
import type { Estimate, Estimates } from '../upstreams/estimates.ts';
import { type Explained, explained, whenBack } from '../upstreams/explained.ts';
import { readNearest } from '../upstreams/pools.ts';
import { Turns } from '../upstreams/turns.ts';
import { type ClaimRow, claimJob } from './claim.ts';
import type { leaseInput } from './inputs.ts';
import type { LeasedRow } from './lease.ts';

/** Why a queue's pool gives nothing now, and when to ask again. */
export interface PoolOut {
  pool: string;
  /** What keeps out the upstream that is expected back first: the class of its block, or `quota`, `trial`, `slots`, `off` …; `no_upstream`: the pool has none. */
  reason: string;
  /** When to ask again, at most 300 s. */
  retryAfterMs: number;
  /** When the first upstream is expected back: an estimate; null where every one needs a person. */
  expectedRecoveryAt: Date | null;
  /** What that estimate rests on. */
  estimate: Estimate | null;
}

/** What came of one look: jobs; or nothing is due, or no upstream is usable (`out`), or the queue has no pool (`plain`). */
type Found = { jobs: LeasedRow[]; out: PoolOut | null } | 'plain';

type Row = ReturnType<typeof leaseInput>;

/** More than any honest crowd needs before it is told that there is nothing. */
const MAX_ROUNDS = 20;

export class PooledClaims {
  readonly #runner: Runner;
  readonly #estimates: Estimates;
  readonly #turns = new Turns();

  constructor(runner: Runner, estimates: Estimates) {
    this.#runner = runner;
    this.#estimates = estimates;
  }

  claim({ count, ...row }: Row): Promise<Found> {
    return this.#turns.take(row.queue, async () => {
      const jobs: LeasedRow[] = [];
      while (jobs.length < count) {
        // Each pair answers to a request id of its own, made of the caller's; no caller's has a control character.
        const request = row.request_id === null ? null : `${row.request_id}\u001f${jobs.length}`;
        const found = await this.#one({ ...row, request_id: jobs.length === 0 ? row.request_id : request });
        if (found === 'plain') return jobs.length === 0 ? 'plain' : { jobs, out: null };
        jobs.push(...found.jobs);
        if (found.jobs.length === 0) return { jobs, out: found.out };
      }
      return { jobs, out: null };
    });
  }

  async #one(row: Omit<Row, 'count'>): Promise<Found> {
    // A repeat whose snapshot is older than the first one's commit found what that one has taken: it looks once more.
    let looked = row.request_id === null;
    for (let round = 0; ; round++) {
      const [answer] = (await this.#runner.read(claimJob, [row])) as [ClaimRow];
      if (answer.outcome === 'leased') return { jobs: this.#told(answer.jobs), out: null };
      if (answer.pool === null) return 'plain';
      if (answer.outcome === 'again' && round < MAX_ROUNDS) {
        await sleep(Math.random() * round);
        continue;
      }
      if (!looked) {
        looked = true;
        continue;
      }
      if (answer.outcome !== 'none') return { jobs: [], out: null };
      const { usable, out } = await this.#why(answer.pool, row);
      // Passed over is not out: who was being selected or reported in that moment is looked at again.
      if (usable && round < MAX_ROUNDS) continue;
      this.#runner.observe('upstream.select', 'none');
      return { jobs: [], out };
    }
  }

  #told(jobs: LeasedRow[]): LeasedRow[] {
    for (const _job of jobs) {
      this.#runner.observe('job.lease', 'leased');
      this.#runner.observe('upstream.select', 'selected');
    }
    return jobs;
  }

  async #why(pool: string, { model, capability }: Pick<Row, 'model' | 'capability'>) {
    const looked = await readNearest(this.#runner, [{ pool, model, capability }]);
    const spreadOf = await this.#estimates.spreads();
    const all = looked.map((one) => explained(one, spreadOf));
    const back = whenBack(all, Date.parse(looked[0]?.now ?? ''));
    return {
      usable: all.some((one) => one.usable),
      out: { pool, reason: reasonOf(all, back.expectedRecoveryAt), ...back },
    };
  }
}

/** Of the first one that is expected back what ends last; of one that needs a person what that is. */
function reasonOf(all: readonly Explained[], at: Date | null): string {
  const first = all.find((one) => one.expectedRecoveryAt?.getTime() === at?.getTime()) ?? all[0];
  const ends = (until: Date | null) => until?.getTime() ?? Number.POSITIVE_INFINITY;
  const last = first?.failing.toSorted((a, b) => ends(b.until) - ends(a.until))[0];
  return first === undefined ? 'no_upstream' : (last?.kind ?? last?.check ?? 'slots');
}
