// Claims on queues with a pool: pairs of jobs and upstreams, again where others held what was free, and when to come back.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Runner } from '../db/runner.ts';
import type { Estimate, Estimates } from '../upstreams/estimates.ts';
import { type Explained, explained, whenBack } from '../upstreams/explained.ts';
import { readNearest } from '../upstreams/pools.ts';
import { explainUpstreams } from '../upstreams/queries.ts';
import { Turns } from '../upstreams/turns.ts';
import { type ClaimRow, claimFurther, claimJob, closeClaims } from './claim.ts';
import { Gathered } from './gathered.ts';
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
type FoundOne = { jobs: LeasedRow[]; out: PoolOut | null; recorded: number | null; closed: boolean } | 'plain';

const NOTHING = { jobs: [], out: null, recorded: null, closed: false };

type Row = ReturnType<typeof leaseInput>;

/** More than any honest crowd needs before it is told that there is nothing. */
const MAX_ROUNDS = 20;

export class PooledClaims {
  readonly #runner: Runner;
  readonly #estimates: Estimates;
  /** More than selections: a claim does twice as much, and what keeps it is not the upstream alone. */
  readonly #turns = new Turns(4);
  /** Who asks under a request id is served by himself. */
  readonly #gathered = new Gathered<LeasedRow, PoolOut, 'plain'>();

  constructor(runner: Runner, estimates: Estimates) {
    this.#runner = runner;
    this.#estimates = estimates;
  }

  claim({ count, ...row }: Row): Promise<Found> {
    if (row.request_id === null)
      return this.#gathered.ask(JSON.stringify(row), count, (several) => this.#several(several, row));
    return this.#turns.take(row.queue, () => this.#several(count, row));
  }

  async #several(count: number, row: Omit<Row, 'count'>): Promise<Found> {
    let jobs: LeasedRow[] = [];
    for (let nth = 0; nth < count; ) {
      const found = await this.#one({ ...row, nth, count: count - nth }).catch((error: unknown) => {
        // What was got is in good hands; who asks for more is told the next time.
        if (jobs.length > 0) return NOTHING;
        throw error;
      });
      if (found === 'plain') return nth === 0 ? 'plain' : { jobs, out: null };
      if (found.recorded !== null) {
        jobs = found.jobs;
        if (found.closed) return { jobs, out: null };
        nth = found.recorded;
      } else if (found.jobs.length > 0) {
        jobs.push(...found.jobs);
        nth += found.jobs.length;
      } else if (await this.#close(row, nth)) return { jobs, out: found.out };
    }
    return { jobs, out: null };
  }

  /** A request that got fewer than it asked for gets no more by a repeat. Whether nobody has added to it meanwhile. */
  async #close({ queue, request_id }: Omit<Row, 'count'>, nth: number): Promise<boolean> {
    if (request_id === null || nth === 0) return true;
    const [answer] = await this.#runner.read(closeClaims, [{ queue, request_id, nth }]);
    return answer!.closed === 1;
  }

  async #one(row: Row & { nth: number }): Promise<FoundOne> {
    // A repeat whose snapshot is older than the first one's commit found what that one has taken: it looks once more.
    let looked = row.request_id === null;
    for (let round = 0; ; round++) {
      let [answer] = (await this.#runner.read(claimJob, [row])) as [ClaimRow];
      if (answer.outcome === 'none') [answer] = (await this.#runner.read(claimFurther, [row])) as [ClaimRow];
      if (answer.outcome === 'leased') {
        const { jobs, recorded, closed } = answer;
        return { ...NOTHING, jobs: recorded === null ? this.#told(jobs) : jobs, recorded, closed: closed === true };
      }
      if (answer.pool === null) return 'plain';
      if (answer.outcome === 'again' && round < MAX_ROUNDS) {
        await sleep(Math.random() * round);
        continue;
      }
      if (!looked) {
        looked = true;
        continue;
      }
      if (answer.outcome !== 'none') return NOTHING;
      const { usable, out } = await this.#why(answer.pool, row);
      // Passed over is not out: who was being selected or reported in that moment is looked at again.
      if (usable && round < MAX_ROUNDS) continue;
      this.#runner.observe('upstream.select', 'none');
      return { ...NOTHING, out };
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
    // None is back by time: what keeps the first one out says why.
    if (all.length === 0)
      for (const one of await this.#runner.read(explainUpstreams, [{ pool, model, capability, count: 1 }]))
        all.push(explained(one, spreadOf));
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
