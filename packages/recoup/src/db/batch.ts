// Batching: concurrent calls of one transition become one statement; while one is on its way the next gathers.

import { type ErrorCode, Refusal } from '../errors.ts';
import type { AnyStatement, Database } from './database.ts';
import { asRefusal, mayBeOneInputs, retryRace } from './failures.ts';
import { HeldWallets, type Item, Turns } from './held-wallets.ts';
import { MAX_PATIENT, type Pools } from './pool.ts';
import type { RawAnswer, Runner } from './runner.ts';
import { encode, encodeBatch } from './statement.ts';

type Observe = (transition: string, outcome: string) => void;

/** Inputs in one statement, and their bytes: bigger ones only lengthen the locks. */
const MAX_INPUTS = 500;
const MAX_BYTES = 4_000_000;
/** How often a batch may find the wallet held before the input goes into a statement that waits. */
const MAX_SKIPS = 2;

/** Refusals that say nothing about an input: where nobody got another answer, the batch as a whole failed. */
const OF_THE_WHOLE = new Set<ErrorCode>([
  'database_unavailable',
  'database_read_only',
  'database_refused',
  'schema_missing',
  'closed',
]);

/** A wallet's lane: its inputs keep their order, and our own batches never find each other's wallets held. */
function laneOf(wallet: string, lanes: number): number {
  let hash = 0;
  for (let i = 0; i < wallet.length; i++) hash = (hash * 31 + wallet.charCodeAt(i)) | 0;
  return (hash >>> 0) % lanes;
}

/** The batching runner over Recoup's own pools. */
export class BatchingRunner implements Runner {
  readonly db: Database;
  readonly #pools: Pools;
  readonly #lanes = new Map<AnyStatement, Lane[]>();
  readonly observe: Observe;
  readonly #turns = new Turns(MAX_PATIENT);
  #closed = false;

  constructor(pools: Pools, observe: Observe) {
    this.#pools = pools;
    this.observe = observe;
    this.db = pools.hot;
  }

  call<A extends RawAnswer>(statement: AnyStatement<A>, input: object): Promise<A> {
    if (this.#closed) return Promise.reject(new Refusal('closed'));
    let lanes = this.#lanes.get(statement);
    if (!lanes) {
      lanes = Array.from(
        { length: statement.lanes },
        () => new Lane(statement, this.#pools, this.#turns, this.observe),
      );
      this.#lanes.set(statement, lanes);
    }
    const wallet = (input as { wallet_id?: string }).wallet_id ?? '';
    return lanes[laneOf(wallet, lanes.length)]!.add(wallet, encode(statement, input)) as Promise<A>;
  }

  async many<A extends RawAnswer>(statement: AnyStatement<A>, inputs: readonly object[]): Promise<(A | Refusal)[]> {
    const settled = await Promise.allSettled(inputs.map((input) => this.call(statement, input)));
    const answers = settled.map((s) => (s.status === 'fulfilled' ? s.value : (s.reason as A | Refusal)));
    const first = answers[0];
    if (first instanceof Refusal && answers.every((a) => a instanceof Refusal && OF_THE_WHOLE.has(a.code))) throw first;
    return answers;
  }

  async read<A>(statement: AnyStatement<A>, inputs: readonly object[]): Promise<A[]> {
    if (this.#closed) throw new Refusal('closed');
    try {
      return await retryRace(() => this.#pools.hot.run(statement, JSON.stringify(inputs)));
    } catch (error) {
      throw asRefusal(error, false);
    }
  }

  /** Refuses new calls and waits for those on their way. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#lanes.values()].flat().map((lane) => lane.idle()));
  }
}

/** The calls of one statement: those that wait, and the one batch on its way. */
class Lane {
  readonly #statement: AnyStatement;
  readonly #pools: Pools;
  readonly #observe: Observe;
  #waiting: Item[] = [];
  #sequence = 0;
  /** Inputs in the next batch: fewer while a value is being looked for that the database refuses. */
  #most = MAX_INPUTS;
  #running = false;
  readonly #held: HeldWallets;
  #open = 0;
  #idle: (() => void)[] = [];

  constructor(statement: AnyStatement, pools: Pools, turns: Turns, observe: Observe) {
    this.#statement = statement;
    this.#pools = pools;
    this.#held = new HeldWallets(statement, pools, turns);
    this.#observe = observe;
  }

  add(wallet: string, json: string): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      this.#open += 1;
      const item = new Call(this, this.#sequence++, wallet, json, resolve, reject);
      if (this.#held.has(wallet)) this.#held.add(wallet, [item]);
      else {
        this.#waiting.push(item);
        // In a microtask: calls made in the same turn share the first statement, and an idle call waits for nothing.
        if (!this.#running && this.#waiting.length === 1) queueMicrotask(() => this.#pump());
      }
    });
  }

  idle(): Promise<void> {
    return this.#open === 0 ? Promise.resolve() : new Promise((done) => this.#idle.push(done));
  }

  async #pump(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    while (this.#waiting.length > 0) await this.#send(this.#take());
    this.#most = MAX_INPUTS;
    this.#running = false;
  }

  #take(): Item[] {
    let bytes = 0;
    let count = 0;
    for (const item of this.#waiting) {
      bytes += item.json.length;
      if (count > 0 && (count >= this.#most || bytes > MAX_BYTES)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /**
   * Sends a batch. Where one of the inputs makes the database refuse or stumble, they go again in smaller batches, in the same
   * order, until that one stands alone.
   */
  async #send(items: Item[]): Promise<void> {
    try {
      const run = () => this.#pools.hot.run(this.#statement, encodeBatch(items.map((item) => item.json)), 'shared');
      const answers = await retryRace(run);
      this.#settle(items, answers as RawAnswer[]);
    } catch (error) {
      if (mayBeOneInputs(error) && items.length > 1) {
        this.#most = items.length >> 1;
        this.#waiting = [...items, ...this.#waiting];
        return;
      }
      this.#most = MAX_INPUTS;
      for (const item of items) item.reject(error);
    }
  }

  #settle(items: Item[], answers: RawAnswer[]): void {
    const open = new Set(items);
    const back: Item[] = [];
    const held = new Set<string>();
    for (const answer of answers) {
      const item = items[answer.ord - 1]!;
      open.delete(item);
      if (answer.outcome === 'again') back.push(item);
      else if (answer.outcome === 'busy' && this.#statement.waits) {
        item.skips += 1;
        if (item.skips >= MAX_SKIPS) held.add(item.wallet);
        back.push(item);
      } else item.resolve(answer);
    }
    for (const item of open) item.reject(new Error(`${this.#statement.name} left an input without an answer`));
    // What comes back stands before what came later, so that a wallet's inputs keep their order; all of a held wallet's go.
    this.#waiting = [...back.sort((a, b) => a.sequence - b.sequence), ...this.#waiting];
    for (const wallet of held) {
      this.#held.add(
        wallet,
        this.#waiting.filter((item) => item.wallet === wallet),
      );
      this.#waiting = this.#waiting.filter((item) => item.wallet !== wallet);
    }
  }

  /** A call has its outcome. */
  close(outcome: string): void {
    // Passed over is no outcome: whoever holds the row brings one about.
    if (outcome !== 'busy') this.#observe(this.#statement.name, outcome);
    this.#open -= 1;
    if (this.#open === 0) for (const done of this.#idle.splice(0)) done();
  }
}

/** One call of a lane. A class, not closures: thousands wait at once, and all of them are moved by the garbage collector. */
class Call implements Item {
  skips = 0;
  readonly since = performance.now();
  readonly sequence: number;
  readonly wallet: string;
  readonly json: string;
  readonly #lane: Lane;
  readonly #resolve: (answer: RawAnswer) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    lane: Lane,
    sequence: number,
    wallet: string,
    json: string,
    resolve: (answer: RawAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#lane = lane;
    this.sequence = sequence;
    this.wallet = wallet;
    this.json = json;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  resolve(answer: RawAnswer): void {
    this.#resolve(answer);
    this.#lane.close(answer.outcome);
  }

  reject(error: unknown): void {
    const refusal = asRefusal(error, false);
    this.#reject(refusal);
    this.#lane.close(refusal.code === 'wallet_busy' ? 'wallet_busy' : 'error');
  }
}
