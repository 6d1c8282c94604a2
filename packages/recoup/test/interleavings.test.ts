// Two transitions of one job, one behind the other's lock: the second answers as if it had come later, whatever it saw before.
import type pg from 'pg';
import { expect } from 'vitest';
import type { InTransaction, Recoup } from '../src/index.ts';
import { answer, ledger, times } from './support/look.ts';
import { booksAreRight, newId, type Running, type Stage, servers, staging } from './support/stage.ts';
import { settledOrWaiting, untilWaiting } from './support/waiting.ts';

const { onEvery, onFirst } = staging();

type Call = (recoup: InTransaction, of: Running & { queue: string }) => Promise<unknown>;
const key = ({ wallet, job }: Running) => ({ wallet, job });
const at = ({ wallet, job, attempt }: Running) => ({ wallet, job, attempt });

/** Every transition that a caller has for a job, in the shapes that differ in what they lock or book. */
const CALLS: Readonly<Record<string, Call>> = {
  submit: ({ jobs }, of) => jobs.submit({ ...key(of), queue: of.queue, price: 40 }),
  lease: ({ jobs }, of) => jobs.lease({ queue: of.queue }).then((got) => ({ outcome: `leased ${got.length}` })),
  extend: ({ jobs }, of) => jobs.extend(at(of)),
  'hand over': ({ jobs }, of) => jobs.handOver(at(of)),
  release: ({ jobs }, of) => jobs.release(at(of)),
  fail: ({ jobs }, of) => jobs.fail(at(of)),
  'fail for good': ({ jobs }, of) => jobs.fail({ ...at(of), verdict: 'definitive', retryable: false }),
  succeed: ({ jobs }, of) => jobs.succeed(at(of)),
  'succeed for less': ({ jobs }, of) => jobs.succeed({ ...at(of), finalPrice: 25 }),
  settle: ({ jobs }, of) => jobs.settle({ ...key(of), finalPrice: 25 }),
  cancel: ({ jobs }, of) => jobs.cancel(key(of)),
  'cancel and keep': ({ jobs }, of) => jobs.cancel({ ...key(of), keep: 12 }),
  redrive: ({ jobs }, of) => jobs.deadLetters.redrive(key(of)),
  discard: ({ jobs }, of) => jobs.deadLetters.discard(key(of)),
};

/** The states that a job is in when the two arrive. */
const STATES: Readonly<Record<string, (s: Stage) => Promise<Running & { queue: string }>>> = {
  running: (s) => s.running(40),
  'running again after a refund': async (s) => {
    const job = await s.running(40);
    await s.recoup.jobs.fail(at(job));
    return { ...job, attempt: await s.lease(job.queue) };
  },
  'queued after a presumed failure': async (s) => {
    const job = await s.running(40);
    await s.recoup.jobs.fail(at(job));
    await s.due(job.queue);
    return job;
  },
  dead: async (s) => {
    const job = await s.running(40);
    await s.recoup.jobs.fail({ ...at(job), retryable: false });
    return job;
  },
  succeeded: async (s) => {
    const job = await s.running(40);
    await s.recoup.jobs.succeed(at(job));
    return job;
  },
};

interface End {
  answers: string[];
  state: unknown;
  entries: string[];
  attempts: string[];
}

/** Where a job stands in the end, without what differs from run to run. */
async function end(s: Stage, job: Running, answers: string[]): Promise<End> {
  const found = (await s.recoup.jobs.get(key(job))).job;
  const { state, attempt, failures, releases, verdict, finalPrice, succeededAttempt } = found;
  const attempts = (await s.recoup.jobs.attempts(key(job))).map(
    (one) => `${one.attempt} ${one.endedAs} ${one.verdict}`,
  );
  return {
    answers,
    state: { state, attempt, failures, releases, verdict, finalPrice, succeededAttempt },
    entries: await ledger(s, job.wallet),
    attempts: attempts.sort(),
  };
}

type Make = (s: Stage) => Promise<Running & { queue: string }>;

/** The first commits (or there is none) before the second begins. */
async function inTurn(s: Stage, make: Make, first: Call | undefined, second: Call): Promise<End> {
  const job = await make(s);
  const answers = first ? [await answer(first(s.recoup, job))] : [];
  return end(s, job, [...answers, await answer(second(s.recoup, job))]);
}

/** Two sessions that get in each other's way; the second one is a client of its own, or a handle that batches. */
class Pair {
  readonly #stage: Stage;
  readonly #holder: pg.Client;
  readonly #rival: pg.Client;
  readonly #replica: Recoup;
  readonly #name: string;

  private constructor(stage: Stage, holder: pg.Client, rival: pg.Client, replica: Recoup, name: string) {
    this.#stage = stage;
    this.#holder = holder;
    this.#rival = rival;
    this.#replica = replica;
    this.#name = name;
  }

  static async on(stage: Stage): Promise<Pair> {
    const name = newId('rival');
    const [holder, rival, replica] = [
      await stage.client(),
      await stage.client(),
      await stage.replica({ applicationName: name }),
    ];
    await rival.query(`set application_name = '${name}'`);
    return new Pair(stage, holder, rival, replica, name);
  }

  /**
   * The first has done its work in a transaction that is still open when the second begins. Undefined where the second took
   * no lock of the first: a lease passes over what is locked, a job that is there answers a submit by itself.
   */
  async meet(make: Make, [first, second]: readonly [Call, Call], end_: 'commit' | 'rollback', alone: boolean) {
    const job = await make(this.#stage);
    await this.#holder.query('begin');
    const before = await answer(first(this.#stage.recoup.using(this.#holder), job));
    const call = answer(
      alone ? inside(this.#stage, this.#rival, (recoup) => second(recoup, job)) : second(this.#replica, job),
    );
    const waited = (await settledOrWaiting(this.#stage.db, call, this.#name)) === 'waiting';
    await this.#holder.query(end_);
    const after = await call;
    return { waited, end: await end(this.#stage, job, end_ === 'commit' ? [before, after] : [after]) };
  }
}

/** In a transaction of a client's own, which commits when it was answered. */
async function inside<T>(s: Stage, client: pg.Client, call: (recoup: InTransaction) => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    const got = await call(s.recoup.using(client));
    await client.query('commit');
    return got;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

const pairs = new Map<Stage, Promise<Pair[]>>();
function pairsOn(s: Stage): Promise<Pair[]> {
  const make = async () => {
    // Without a delay before the next attempt nobody has to move the clock, which is one for all pairs.
    await s.recoup.queues.configure('*', { backoffBaseMs: 0, backoffMaxMs: 0 });
    return Promise.all(times(5, () => Pair.on(s)));
  };
  const some = pairs.get(s) ?? make();
  pairs.set(s, some);
  return some;
}

/** Every pair of calls against a job of that state; what is wrong of it. */
async function wrongOf(s: Stage, make: Make, end_: 'commit' | 'rollback') {
  const names = Object.keys(CALLS);
  // A repeated submit holds nothing and waits for nothing; one server sees every other pair.
  const all = names.flatMap((second) => names.map((first) => [first, second] as const));
  const some = all.filter(([first, second]) => second !== 'submit' && first !== 'submit');
  const wanted = some.filter((_, index) => s.server === servers[0] || index % 3 === 0);
  const wrong: unknown[] = [];
  let waits = 0;
  const work = async (pair: Pair) => {
    for (let next = wanted.pop(); next; next = wanted.pop()) {
      const [first, second] = [CALLS[next[0]]!, CALLS[next[1]]!];
      const alone = wanted.length % 2 === 0;
      const { waited, end: got } = await pair.meet(make, [first, second], end_, alone);
      if (waited) waits += 1;
      if (!waited && next[1] === 'lease') continue;
      const should = await inTurn(s, make, end_ === 'commit' ? first : undefined, second);
      if (JSON.stringify(got) !== JSON.stringify(should)) wrong.push({ pair: next, alone, got, should });
    }
  };
  await Promise.all((await pairsOn(s)).map(work));
  expect(waits).toBeGreaterThan(0);
  return wrong;
}

for (const [state, make] of Object.entries(STATES)) {
  const on = state === 'running' ? onEvery : onFirst;
  on(`two transitions of a job that is ${state}: the one behind a lock answers as if it had come later`, async (s) => {
    expect(await wrongOf(s, make, 'commit')).toEqual([]);
  });
}

onEvery(
  'two transitions of a running job: where the first one rolls back, the other answers as if it were alone',
  async (s) => {
    expect(await wrongOf(s, STATES.running!, 'rollback')).toEqual([]);
  },
);

onEvery(
  'a success that learns of the refund while it waits does not meet the next in line in a deadlock',
  async (s) => {
    const [holder, third, success] = [await s.client(), await s.client(), await s.client()];
    const job = await s.running(40);
    await holder.query('begin');
    expect(await answer(s.recoup.using(holder).jobs.fail(at(job)))).toBe('retrying');
    // One stands at the wallet, the other at the job: both behind the holder.
    const failing = answer(inside(s, third, ({ jobs }) => jobs.fail(at(job))));
    await untilWaiting(s.db, 1);
    const succeeding = answer(inside(s, success, ({ jobs }) => jobs.succeed(at(job))));
    await untilWaiting(s.db, 2);
    await holder.query('commit');
    expect(await succeeding).toBe('reclaimed');
    expect(await failing).toMatch(/^(duplicate|succeeded)$/);
  },
);

onEvery('the books are right', booksAreRight);
