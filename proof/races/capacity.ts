// Races of capacity: every pair of calls that leave the same state of an upstream, many callers each way, explained by the model.
import { applyCapacity } from '../../packages/recoup/model/capacity/model.ts';
import type { BlockSaid, ReportInput } from '../../packages/recoup/model/capacity/reports.ts';
import { blockedUntil, type Capacity, emptyCapacity, isOpen } from '../../packages/recoup/model/capacity/world.ts';
import { nameOf } from '../../packages/recoup/model/promises.ts';
import { BothCapacities } from '../../packages/recoup/simulation/capacity/both.ts';
import {
  type CapacityCall,
  type CapacityCommand,
  sendCapacity,
} from '../../packages/recoup/simulation/capacity/commands.ts';
import { CapacityLooker, type CapacityRows } from '../../packages/recoup/simulation/capacity/rows.ts';
import { type InTransaction, open, type Recoup } from '../../packages/recoup/src/index.ts';
import { type TestDatabase, testDatabase } from '../../packages/recoup/src/testing.ts';
import { answer, tally, times } from '../../packages/recoup/test/support/look.ts';

const SECOND = 1000;
const REPLICAS = 4;
const soft: BlockSaid = { kind: 'rate_limited', source: 'backoff', policy: 'auto' };
const overloaded: BlockSaid = { ...soft, kind: 'overloaded', subject: 'provider' };

/** A call; selections differ in their lease alone, and a block is named by who sees it. */
type Make = (world: Capacity, index: number) => CapacityCall;

const report =
  (input: Omit<ReportInput, 'upstream'>): Make =>
  () => ({ transition: 'upstream.report', input: { upstream: 'a', ...input } });
const register = (input: object): CapacityCall => ({
  transition: 'upstream.register',
  input: { upstream: 'a', ...input },
});
const select = (lease: string): CapacityCall => ({
  transition: 'upstream.select',
  input: { pool: 'p', lease, leaseMs: 60 * SECOND, upstream: 'a' },
});
const openIn = (world: Capacity) => Object.entries(world.blocks).find(([, block]) => isOpen(block))?.[0] ?? 'none';

export const CALLS: Readonly<Record<string, Make>> = {
  select: (_world, index) => select(`n${index}`),
  'select by one lease': () => select('same'),
  extend: () => ({ transition: 'upstream.extend', input: { lease: 't', leaseMs: 90 * SECOND } }),
  release: () => ({ transition: 'upstream.release', input: { lease: 't' } }),
  'succeed under its lease': report({ lease: 't', success: true }),
  'fail under its lease': report({ lease: 't', success: false, block: soft }),
  succeed: report({ success: true }),
  fail: report({ success: false, block: soft }),
  'fail for good': report({ success: false, block: { ...soft, policy: 'manual' } }),
  'fail for all of its provider': report({ success: false, block: overloaded }),
  'end its block': (world) => ({
    transition: 'block.close',
    input: { block: openIn(world), as: 'operator', generation: 1 },
  }),
  'switch it off': () => register({ status: 'off' }),
  'take slots away': () => register({ maxConcurrency: 1 }),
};

const say = (...calls: CapacityCall[]): CapacityCommand[] =>
  calls.map((call) => ({ kind: 'calls', replica: 0, calls: [call], mode: 'single' }));
const pass = (ms: number): CapacityCommand => ({ kind: 'clock', ms });
const failed = (block: BlockSaid) => say(report({ success: false, block })(emptyCapacity(), 0));
const used = say(select('t'));

/** The states of an upstream, and the way to each. */
export const STATES: Readonly<Record<string, readonly CapacityCommand[]>> = {
  free: [pass(SECOND)],
  'in use': [...used, pass(SECOND)],
  'in use and blocked': [...used, pass(SECOND), ...failed(soft), pass(SECOND)],
  'half open': [...failed(soft), pass(31 * SECOND)],
  'half open, its trial out': [...failed(soft), pass(31 * SECOND), ...used, pass(SECOND)],
  'half open with its provider': [...failed(overloaded), pass(31 * SECOND)],
};

export interface CapacityRace {
  readonly state: string;
  readonly calls: readonly [string, string];
}

/** Every pair in every state; those that change nothing there are met as the rivals of those that do. */
export const capacityRaces = (): CapacityRace[] =>
  Object.keys(STATES).flatMap((state) => {
    const names = Object.keys(CALLS);
    return names.flatMap((one, i) => names.slice(i).map((other): CapacityRace => ({ state, calls: [one, other] })));
  });

/** One text for all that both know; who holds a lease is nobody's business. */
function digest({ upstreams, blocks, events, leases }: Omit<CapacityRows, 'next' | 'counts' | 'ids'>): string {
  const sorted = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value)
          .map(([name, of]) => [name, of === Number.POSITIVE_INFINITY ? 'infinity' : sorted(of)])
          .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
      : value;
  const lease = Object.values(leases).map((one) => JSON.stringify(sorted(one)));
  return JSON.stringify([sorted(upstreams), sorted(blocks), sorted(events), lease.sort()]);
}

/** The model's world in that text. */
export function digestOf(world: Capacity): string {
  const upstreams = Object.entries(world.upstreams).map(([id, of]) => [
    id,
    { ...of, blockedUntil: blockedUntil(world, id) },
  ]);
  const events = world.events.map((event) => [`${event.block} ${event.generation}`, event]);
  return digest({ ...world, upstreams: Object.fromEntries(upstreams), events: Object.fromEntries(events) });
}

type Tally = Readonly<Record<string, number>>;

interface Node {
  readonly world: Capacity;
  readonly left: Tally;
  readonly given: ReadonlySet<string>;
}

/** Whether an order of the calls gives these answers and this end. Calls that change nothing may come at any time, in any number. */
export function explains(
  start: Capacity,
  calls: readonly CapacityCall[],
  answers: readonly Tally[],
  end: string,
): boolean {
  const left = Object.fromEntries(
    answers.flatMap((one, who) => Object.entries(one).map(([name, count]) => [`${who} ${name}`, count])),
  );
  const open: Node[] = [{ world: start, left, given: new Set() }];
  const seen = new Set<string>();
  for (let node = open.pop(); node; node = open.pop()) {
    const now = digestOf(node.world);
    const given = new Set(node.given);
    const next: Omit<Node, 'given'>[] = [];
    calls.forEach((call, who) => {
      const { world, answer: said } = applyCapacity(node.world, fresh(node.world, call));
      const name = `${who} ${nameOf(said)}`;
      const count = node.left[name] ?? 0;
      // A selection passes over what somebody holds: none may always come.
      if (call.transition === 'upstream.select') given.add(`${who} none`);
      if (digestOf(world) === now) given.add(name);
      else if (count > 0) next.push({ world, left: { ...node.left, [name]: count - 1 } });
    });
    const key = JSON.stringify([now, node.left, [...given].sort()]);
    if (seen.has(key)) continue;
    seen.add(key);
    if (now === end && Object.entries(node.left).every(([name, count]) => count === 0 || given.has(name))) return true;
    for (const one of next) open.push({ ...one, given });
  }
  return false;
}

/** A selection by a lease of its own takes the next one. */
function fresh(world: Capacity, call: CapacityCall): CapacityCall {
  if (call.transition !== 'upstream.select' || call.input.lease === 'same') return call;
  return select(`n${Object.keys(world.started).length}`);
}

export class CapacityArena implements AsyncDisposable {
  readonly #db: TestDatabase;
  readonly #both: BothCapacities;
  readonly #looker: CapacityLooker;
  readonly #wide: Recoup;
  readonly #replicas: readonly Recoup[];
  readonly #callers: number;
  #round = 0;

  private constructor(
    db: TestDatabase,
    [both, looker]: readonly [BothCapacities, CapacityLooker],
    [wide, ...replicas]: readonly [Recoup, ...Recoup[]],
    callers: number,
  ) {
    this.#db = db;
    this.#both = both;
    this.#looker = looker;
    this.#wide = wide;
    this.#replicas = replicas;
    this.#callers = callers;
  }

  /** `callers`: of each of the two calls. */
  static async on(serverUrl: string, callers: number): Promise<CapacityArena> {
    const db = await testDatabase(serverUrl);
    const both = await BothCapacities.open(db, { replicas: 1 });
    const handle = (maxConnections: number) =>
      open({ connection: db.url, sweep: false, maxConnections, lockTimeoutMs: 60_000 });
    const handles = [await handle(callers * 2), ...(await Promise.all(times(REPLICAS, () => handle(10))))] as const;
    return new CapacityArena(db, [both, await CapacityLooker.on(db.url)], handles, callers);
  }

  /** One round of a race; undefined if the model can explain it. */
  async race({ state, calls: names }: CapacityRace): Promise<object | undefined> {
    const both = this.#both;
    await both.begin();
    for (const command of say(register({ pool: 'p', provider: 'x', maxConcurrency: 2 }))) await both.deliver(command);
    for (const command of STATES[state]!) await both.deliver(command);
    const { world } = both;
    const batched = this.#round++ % 2 === 1;
    const got = await Promise.all(
      times(this.#callers * 2, async (i) => {
        const call = CALLS[names[i % 2]!]!(world, i);
        const replica = this.#replicas[i % REPLICAS]!;
        const one = (to: InTransaction) => answer(sendCapacity(to.upstreams, call, both));
        const said = batched && i % 4 > 1 ? one(replica) : this.#wide.transaction(one);
        return [i % 2, await said] as const;
      }),
    );
    const answers = [0, 1].map((who) => tally(got.filter(([by]) => by === who).map(([, name]) => name)));
    const rows = await this.#looker.look(both.at(0).getTime(), '0');
    const calls = names.map((name) => CALLS[name]!(world, 0));
    const { problems } = await this.#wide.verify({ testClock: true });
    if (problems.length === 0 && explains(world, calls, answers, digest(rows))) return undefined;
    return { state, calls: names, answers, problems, before: digestOf(world), after: digest(rows) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#wide, ...this.#replicas].map((handle) => handle.close()));
    await this.#looker.close();
    await this.#both.close();
    await this.#db.drop();
  }
}
