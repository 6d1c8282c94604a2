// The model and a database side by side: every command is given to both, then what was written is compared.
import { invariants } from '../model/invariants.ts';
import { type Action, apply as applyToModel } from '../model/model.ts';
import { nameOf, promises } from '../model/promises.ts';
import { advance, emptyWorld, type Job, type Queue, type World } from '../model/world.ts';
import type { TestDatabase } from '../src/testing.ts';
import { Fleet } from './fleet.ts';
import { compare, Disagreement, Looker } from './rows.ts';
import { Tally } from './tally.ts';

const HOUR = 3_600_000;
const TABLES = ['wallets', 'entries', 'notes', 'jobs', 'attempts', 'lease_requests'].map((name) => `recoup.${name}`);
const RESET = `begin; alter table recoup.entries disable trigger entries_append_only; truncate ${TABLES.join(', ')};
  alter table recoup.entries enable always trigger entries_append_only; delete from recoup.queues where id <> '*'; commit`;

export interface Options {
  readonly replicas?: number;
  /** What becomes of the texts of transitions: to see whether a broken one is noticed. */
  readonly rewrite?: (text: string) => string;
}

export class BothWorlds {
  readonly tally = new Tally();
  readonly db: TestDatabase;
  readonly fleet: Fleet;
  readonly #looker: Looker;
  #start = Date.UTC(2030, 0, 1);
  #world: World = emptyWorld();
  /** The world at the last look, and where the next look begins. */
  #seen: World = this.#world;
  #from = '0';
  /** What each lease request was given, and when. */
  readonly requests = new Map<string, { jobs: readonly Job[]; at: number }>();
  /** When jobs ended for good, as the database has it. */
  readonly endedAt = new Map<string, number>();
  /** The processes' own clock: it moves with the commands, so that nothing depends on how fast this machine is. */
  #monotonic = performance.now();
  readonly #realNow = performance.now;

  private constructor(db: TestDatabase, fleet: Fleet, looker: Looker) {
    this.db = db;
    this.fleet = fleet;
    this.#looker = looker;
    performance.now = () => this.#monotonic;
  }

  static async open(db: TestDatabase, { replicas = 3, rewrite }: Options = {}): Promise<BothWorlds> {
    return new BothWorlds(db, await Fleet.open(db, replicas, rewrite), await Looker.on(db.url));
  }

  async close(): Promise<void> {
    performance.now = this.#realNow;
    await this.fleet.close();
    await this.#looker.close();
  }

  get world(): World {
    return this.#world;
  }

  /** An instant of the model. */
  at(ms: number): Date {
    return new Date(this.#start + ms);
  }

  /** Both worlds anew, with these queues. */
  async begin(queues: Readonly<Record<string, Partial<Queue>>>): Promise<void> {
    await this.db.query(RESET);
    // Later than the run before: a handle may remember where it read.
    this.#start += 10 * 24 * HOUR;
    this.#monotonic += HOUR;
    await this.db.setClock(new Date(this.#start));
    [this.#world, this.#seen, this.#from] = [emptyWorld(), emptyWorld(), '0'];
    this.requests.clear();
    this.endedAt.clear();
    for (const [queue, settings] of Object.entries(queues)) {
      this.apply({ transition: 'queue.configure', input: { queue, settings } });
      await this.fleet.at(0).recoup.queues.configure(queue, settings);
    }
  }

  /** The first of several ways that agrees; what the model was given by one that does not is taken back. */
  either(ways: readonly (() => void)[]): void {
    const before = this.#world;
    for (const [index, way] of ways.entries()) {
      try {
        way();
        return;
      } catch (error) {
        if (index === ways.length - 1) throw error;
        this.#world = before;
      }
    }
  }

  /** Moves the clock of the database, forth or back; the clocks of the processes only go on. */
  async pass(ms: number): Promise<void> {
    this.#world = advance(this.#world, ms);
    this.#monotonic += Math.max(ms, 0);
    await this.db.advance(ms);
  }

  /** Nothing lasts no time. */
  tick(): void {
    this.#monotonic += 1;
  }

  /** Everything there is, not only what was written lately; and every promise of verify. */
  async verify(): Promise<void> {
    await this.compare('0');
    const { problems } = await this.fleet.at(0).recoup.verify({ testClock: true });
    if (problems.length > 0) throw new Disagreement(problems.map((problem) => `verify: ${JSON.stringify(problem)}`));
  }

  /** What was written since the last look, or since a point: the same in both worlds, and no promise is broken. */
  async compare(from?: string): Promise<void> {
    const rows = await this.#looker.look(this.#start, from ?? this.#from);
    this.#world = compare(rows, from === undefined ? this.#seen : emptyWorld(), this.#world);
    if (this.#world !== this.#seen) {
      const problems = invariants(this.#world);
      if (problems.length > 0) throw new Disagreement(problems);
    }
    for (const [key, at] of Object.entries(rows.ended)) if (at !== null) this.endedAt.set(key, at);
    [this.#seen, this.#from] = [this.#world, rows.next];
  }

  /** Gives an action to the model; what it is answered. */
  apply(action: Action): string {
    const { world, answer } = applyToModel(this.#world, action);
    const problems = promises({ before: this.#world, action, after: world, answer });
    if (problems.length > 0) throw new Disagreement(problems.map((one) => `${action.transition} ${one}`));
    this.#world = world;
    this.tally.operation(action.transition, nameOf(answer));
    return nameOf(answer);
  }
}
