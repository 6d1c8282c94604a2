// The model of capacity and a database side by side: every command is given to both, then what was written is compared.
import { capacityInvariants } from '../../model/capacity/invariants.ts';
import { forget, unused } from '../../model/capacity/model.ts';
import { type Capacity, emptyCapacity, type Lease, pass } from '../../model/capacity/world.ts';
import { nameOf } from '../../model/promises.ts';
import type { InTransaction } from '../../src/index.ts';
import type { TestDatabase } from '../../src/testing.ts';
import { named } from '../../test/support/look.ts';
import { settledOrWaiting } from '../../test/support/waiting.ts';
import { answerTo } from '../calls.ts';
import type { Fault } from '../commands.ts';
import { Fleet } from '../fleet.ts';
import { Disagreement } from '../rows.ts';
import { Tally } from '../tally.ts';
import { type CapacityCall, type CapacityCommand, type Spelling, sendCapacity } from './commands.ts';
import { type Around, explain, type Found, type Heard } from './explain.ts';
import { CapacityLooker, type CapacityRows, capacityDifferences } from './rows.ts';

const DAY = 86_400_000;
const RESET = `begin; alter table recoup.block_events disable trigger block_events_append_only;
  alter table recoup.upstream_events disable trigger upstream_events_append_only;
  truncate recoup.upstreams, recoup.blocks, recoup.block_events, recoup.upstream_leases, recoup.upstream_events restart identity;
  alter table recoup.block_events enable always trigger block_events_append_only;
  alter table recoup.upstream_events enable always trigger upstream_events_append_only; commit`;
/** What a caller hears whose connection broke. */
const LOST = 'database_unavailable';

type Of<K extends CapacityCommand['kind']> = Extract<CapacityCommand, { kind: K }>;

export interface CapacityOptions {
  readonly replicas?: number;
  /** What becomes of the texts of transitions: to see whether a broken one is noticed. */
  readonly rewrite?: (text: string) => string;
}

export class BothCapacities implements Spelling {
  readonly tally = new Tally();
  readonly db: TestDatabase;
  readonly fleet: Fleet;
  readonly #looker: CapacityLooker;
  #start = Date.UTC(2030, 0, 1);
  #world = emptyCapacity();
  #from = '0';
  readonly #ids = new Map<string, number>();
  readonly #names = new Map<number, string>();

  private constructor(db: TestDatabase, fleet: Fleet, looker: CapacityLooker) {
    this.db = db;
    this.fleet = fleet;
    this.#looker = looker;
  }

  static async open(db: TestDatabase, { replicas = 3, rewrite }: CapacityOptions = {}): Promise<BothCapacities> {
    return new BothCapacities(db, await Fleet.open(db, replicas, rewrite), await CapacityLooker.on(db.url));
  }

  async close(): Promise<void> {
    await this.fleet.close();
    await this.#looker.close();
  }

  get world(): Capacity {
    return this.#world;
  }

  at(ms: number): Date {
    return new Date(this.#start + ms);
  }

  idOf(block: string): number {
    return this.#ids.get(block) ?? 1_000_000_000;
  }

  /** Both worlds anew. */
  async begin(): Promise<void> {
    await this.db.query(RESET);
    this.#start += 30 * DAY;
    await this.db.setClock(new Date(this.#start));
    [this.#world, this.#from] = [emptyCapacity(), '0'];
    this.#ids.clear();
    this.#names.clear();
  }

  /** Everything there is, not only what was written lately; and every promise of verify. */
  async verify(): Promise<void> {
    const rows = await this.#looker.look(this.#start, '0');
    const wrong = capacityDifferences(rows, emptyCapacity(), this.#world);
    if (wrong.length > 0) throw new Disagreement(wrong);
    const { problems } = await this.fleet.at(0).recoup.verify({ testClock: true });
    if (problems.length > 0) throw new Disagreement(problems.map((problem) => `verify: ${JSON.stringify(problem)}`));
  }

  /** Gives a command to both worlds, and compares them. Throws a Disagreement. */
  async deliver(command: CapacityCommand): Promise<void> {
    if (command.kind === 'calls') await this.#calls(command);
    else if (command.kind === 'behind') await this.#behind(command);
    else if (command.kind === 'sweep') await this.#sweep(command);
    else if (command.kind === 'crash') await this.fleet.crash(command.replica);
    else {
      this.#world = pass(this.#world, command.ms);
      await this.db.advance(command.ms);
    }
    this.tally.command(command);
  }

  /** Sends something to a replica under a fault. */
  async #under<T>(replica: number, fault: Fault | undefined, send: () => Promise<T>, meanwhile?: () => Promise<void>) {
    const { faults } = this.fleet.at(replica);
    faults.arm(fault, meanwhile);
    const got = await send();
    const { fired } = faults.disarm();
    if (fault && fired) {
      this.tally.fault(fault);
      if (fault.crash) await this.fleet.crash(replica);
      else await this.fleet.settle(replica);
    }
    return { got, fired };
  }

  async #calls({ replica, calls, mode, fault }: Of<'calls'>): Promise<void> {
    const { recoup } = this.fleet.at(replica);
    const all = (): Promise<readonly unknown[]> => {
      if (mode === 'transaction')
        return answerTo(recoup.transaction((inside) => this.#inTurn(inside, calls))).then((got) =>
          Array.isArray(got) ? got : calls.map(() => got),
        );
      return Promise.all(calls.map((call) => answerTo(sendCapacity(recoup.upstreams, call, this))));
    };
    const { got, fired } = await this.#under(replica, fault, all);
    const lost = (i: number) => fired && named(got[i]) === LOST;
    if (fired && mode === 'transaction') {
      const committed = fault?.at === 'commit' && fault.cut === 'answer';
      if (!calls.every((_, i) => lost(i))) throw new Disagreement(['a transaction that broke was answered']);
      const heard = calls.map((call): Heard => ({ call, got: undefined, done: 'all', passedOver: false }));
      await this.#explain(committed ? heard : [], true);
      return;
    }
    // Of what shared the lost statement only the statement knows which were decided.
    const done = (): Heard['done'] => {
      if (mode !== 'single' || typeof fault?.at !== 'number') return 'any';
      return fault.at - (fault.cut === 'answer' ? 0 : 1);
    };
    const heard = calls.map((call, i): Heard => {
      const known = lost(i) ? { got: undefined, done: done() } : { got: got[i], done: 'all' as const };
      return { call, passedOver: mode === 'turn', ...known };
    });
    if (fired && !heard.some(({ got: answer }) => answer === undefined))
      throw new Disagreement(['an answer that was lost was heard']);
    await this.#explain(heard, mode === 'transaction');
  }

  async #inTurn(inside: InTransaction, calls: readonly CapacityCall[]): Promise<unknown[]> {
    const answers: unknown[] = [];
    for (const call of calls) answers.push(await answerTo(sendCapacity(inside.upstreams, call, this)));
    return answers;
  }

  /** The holder's transaction has done its work and is open when the rival's call begins: it comes after, or before, or sees nothing. */
  async #behind({ replica, calls, end, rival, call }: Of<'behind'>): Promise<void> {
    const [holder, other] = [this.fleet.at(replica), this.fleet.at(rival)];
    const cut = end === 'answer lost' ? 'answer' : end === 'cut before the commit' ? 'request' : undefined;
    const onPurpose = new Error('rolled back on purpose');
    let answers: unknown[] = [];
    let [waited, late]: [boolean, Promise<unknown> | undefined] = [false, undefined];
    const run = () =>
      holder.recoup.transaction(async (inside) => {
        answers = await this.#inTurn(inside, calls);
        late = answerTo(sendCapacity(other.recoup.upstreams, call, this));
        waited = (await settledOrWaiting(this.db, late, other.name)) === 'waiting';
        if (end === 'rollback') throw onPurpose;
      });
    const { got, fired } = await this.#under(replica, cut && { at: 'commit', cut, crash: false }, () =>
      run().then(
        () => 'committed',
        (error: unknown) => error,
      ),
    );
    const committed = got === 'committed' || (end === 'answer lost' && fired);
    const asMeant = end === 'commit' ? got === 'committed' : end === 'rollback' ? got === onPurpose : fired;
    const heard = await late;
    if (!asMeant || heard === undefined)
      throw got instanceof Error ? got : new Disagreement(['it did not end as it was to']);
    if (waited) this.tally.waited += 1;
    const first = calls.map((one, i): Heard => ({ call: one, got: answers[i], done: 'all', passedOver: false }));
    const second: Heard = { call, got: heard, done: 'all', passedOver: true };
    // Where it waited, it comes after; but a lease that is being given is none yet to who was quicker.
    const { lease } = call.input as { lease?: string };
    const unborn = calls.some(({ transition, input }) => transition === 'upstream.select' && input.lease === lease);
    const orders = [[...first, second], ...(waited && !unborn ? [] : [[second, ...first]])];
    await this.#explainOne(committed ? orders : [[second]]);
  }

  /** Forgets old leases, then reads what nobody tried for a day, then ends it as it was seen. */
  async #sweep({ replica, fault, meanwhile }: Of<'sweep'>): Promise<void> {
    const { recoup } = this.fleet.at(replica);
    const start = forget(this.#world);
    const seen = unused(start);
    const heard: Heard[] = [];
    const between = async () => {
      const rival = meanwhile && this.fleet.at(meanwhile.rival).recoup;
      for (const call of meanwhile?.calls ?? []) {
        const got = await answerTo(sendCapacity(rival!.upstreams, call, this));
        heard.push({ call, got, done: 'all', passedOver: false });
      }
      this.tally.between += 1;
    };
    const { got, fired } = await this.#under(
      replica,
      fault,
      () => recoup.sweep().catch((error: unknown) => error),
      between,
    );
    if (got instanceof Error && !fired) throw got;
    this.#world = start;
    const lapses = fired && fault?.cut !== 'answer' ? [] : seen;
    await this.#explain(heard, true, lapses);
  }

  #explain(heard: readonly Heard[], inOrder: boolean, lapses: readonly { block: string; generation: number }[] = []) {
    return this.#explainOne([heard], inOrder, lapses);
  }

  /** The first of several sets of calls that agrees with the answers and the rows. */
  async #explainOne(
    sets: readonly (readonly Heard[])[],
    inOrder = true,
    lapses: readonly { block: string; generation: number }[] = [],
  ): Promise<void> {
    const rows = await this.#looker.look(this.#start, this.#from);
    for (const [name, id] of Object.entries(rows.ids)) {
      this.#ids.set(name, id);
      this.#names.set(id, name);
    }
    let problems: string[] = [];
    for (const heard of sets) {
      const all = [...heard, ...lapses.map(lapsed)];
      const found = explain(this.#world, all, inOrder, this.#around(rows));
      if (!Array.isArray(found)) return this.#accept(found as Found, rows);
      problems = found;
    }
    throw new Disagreement(problems);
  }

  #around(rows: CapacityRows): Around {
    const before = this.#world;
    return {
      // One that lapsed was not given just now.
      leaseOf: (id) => {
        const lease = rows.leases[id] as Lease | undefined;
        return lease && lease.leaseUntil > before.clock ? lease.upstream : undefined;
      },
      nameOfBlock: (id) => this.#names.get(id),
      at: (ms) => this.at(ms),
      differences: (world) => capacityDifferences(rows, before, world),
    };
  }

  #accept({ world, told }: Found, rows: CapacityRows): void {
    const problems = world === this.#world ? [] : capacityInvariants(world);
    if (problems.length > 0) throw new Disagreement(problems);
    for (const { action, answer } of told) this.tally.operation(action.transition, nameOf(answer));
    [this.#world, this.#from] = [world, rows.next];
  }
}

/** What a sweep says of one block: its answer is nobody's. */
const lapsed = (input: { block: string; generation: number }): Heard => ({
  call: { transition: 'block.lapse', input } as unknown as CapacityCall,
  got: undefined,
  done: 'all',
  passedOver: false,
});
