// Runs a race on a real server: brings a job to the state, lets all callers go at once, and asks the model for an explanation.
import type { Action } from '../../packages/recoup/model/model.ts';
import { advance, emptyWorld, type World } from '../../packages/recoup/model/world.ts';
import { type Call, send } from '../../packages/recoup/simulation/calls.ts';
import { type InTransaction, open, type Recoup } from '../../packages/recoup/src/index.ts';
import { type TestDatabase, testDatabase } from '../../packages/recoup/src/testing.ts';
import { answer, tally, times } from '../../packages/recoup/test/support/look.ts';
import { SNAPSHOT } from '../../packages/recoup/test/support/snapshot.ts';
import { explained, type Tally } from './explain.ts';
import { AT, inRound, inWords, NOTHING, QUEUE, seenOf } from './menu.ts';
import { type Race, SETTINGS } from './pairs.ts';
import { digest, type Known, textOf } from './world-digest.ts';

const REPLICAS = 4;
/** Where the clock of the races begins: an instant of a whole millisecond. */
const START = Date.UTC(2030, 0, 1);

export interface Unexplained {
  state: string;
  calls: readonly string[];
  answers: Tally;
  before: string;
  after: string;
}

export class Arena implements AsyncDisposable {
  readonly #db: TestDatabase;
  readonly #wide: Recoup;
  readonly #replicas: readonly Recoup[];
  readonly #callers: number;
  #clock = 0;
  #round = 0;

  private constructor(db: TestDatabase, wide: Recoup, replicas: readonly Recoup[], callers: number) {
    this.#db = db;
    this.#wide = wide;
    this.#replicas = replicas;
    this.#callers = callers;
  }

  /** `callers`: of each of the two calls. Each has a connection of its own, or they share those of four replicas. */
  static async on(serverUrl: string, callers: number): Promise<Arena> {
    const db = await testDatabase(serverUrl);
    await db.setClock(new Date(START));
    const handle = (maxConnections: number) =>
      // Waiting in line is what they are for: nobody gives up.
      open({ connection: db.url, sweep: false, maxConnections, lockTimeoutMs: 60_000 });
    const wide = await handle(callers * 2);
    const { backoffBaseMs, backoffMaxMs, maxFailures, maxReleases, leaseMs } = SETTINGS;
    await wide.queues.configure('*', { backoffBaseMs, backoffMaxMs, maxFailures, maxReleases, leaseMs });
    return new Arena(db, wide, await Promise.all(times(REPLICAS, () => handle(10))), callers);
  }

  /** One round of a race; undefined if the model can explain it. */
  async race({ state, path, calls }: Race): Promise<Unexplained | undefined> {
    const round = this.#round++;
    let world = emptyWorld({ clock: this.#clock, queues: { '*': SETTINGS } });
    for (const step of path) {
      if ('passMs' in step) world = await this.#pass(world, step.passMs);
      else world = await this.#prepare(world, inRound(step, round));
    }
    world = await this.#pass(world, 1);
    const before = await this.#look(round);
    if (before !== digest(world))
      throw new Error(`${state}: the way to it led to ${before} instead of ${digest(world)}`);
    const named = [inRound(calls[0], round), inRound(calls[1], round)] as const;
    const answers = await this.#go(named, round);
    const after = await this.#look(round);
    // What is left running would be lapsed in a later round.
    await answer(this.#wide.jobs.cancel({ wallet: `${AT.wallet}-${round}`, job: AT.job }));
    if (explained(world, named, answers, after)) return undefined;
    return { state, calls: calls.map(inWords), answers, before, after };
  }

  /** After all of it the books are right. */
  async problems(): Promise<unknown[]> {
    return (await this.#wide.verify({ testClock: true })).problems;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#wide, ...this.#replicas].map((handle) => handle.close()));
    await this.#db.drop();
  }

  async #pass(world: World, ms: number): Promise<World> {
    await this.#db.advance(ms);
    this.#clock += ms;
    return advance(world, ms);
  }

  async #prepare(world: World, action: Action): Promise<World> {
    const expected = seenOf(action, world);
    const got = await this.#one(this.#wide, this.#wide, action);
    if (got !== expected.answer) throw new Error(`${inWords(action)} answered ${got} instead of ${expected.answer}`);
    return expected.after;
  }

  /** All at once; in every other round half of them through replicas that batch. */
  async #go(calls: readonly [Action, Action], round: number): Promise<Tally> {
    const one = (call: Action, index: number): Promise<string> => {
      const replica = this.#replicas[index % REPLICAS]!;
      const batched = round % 2 === 1 && index % 2 === 1;
      if (batched || call.transition === 'job.lapse') return this.#one(replica, replica, call);
      return this.#wide.transaction((inside) => this.#one(inside, replica, call));
    };
    const got = await Promise.all(
      times(this.#callers * 2, async (index) => [index % 2, await one(calls[index % 2]!, index >> 1)] as const),
    );
    const of = (who: number) => tally(got.filter(([by]) => by === who).map(([, name]) => name));
    return [of(0), of(1)];
  }

  /** A call, and what its caller sees. Lapsing is what replicas do by themselves: a sweep. */
  async #one(recoup: InTransaction, replica: Recoup, action: Action): Promise<string> {
    switch (action.transition) {
      case 'job.lapse':
        return (await replica.sweep()).lapsed > 0 ? 'lapsed' : NOTHING;
      case 'job.lease': {
        const queue = action.input.wallet.replace(AT.wallet, QUEUE);
        return (await recoup.jobs.lease({ queue })).length > 0 ? 'leased' : NOTHING;
      }
      case 'job.prune':
        await recoup.jobs.prune({ olderThanMs: 0 });
        return 'pruned';
      default:
        return answer(send(recoup, action satisfies Call));
    }
  }

  async #look(round: number): Promise<string> {
    const [row] = await this.#db.query(SNAPSHOT, [START, true, `${AT.wallet}-${round}`]);
    const queue = await this.#db.query('select paused from recoup.queues where id = $1', [`${QUEUE}-${round}`]);
    return textOf(row!.world as Known, queue[0]?.paused === true);
  }
}
