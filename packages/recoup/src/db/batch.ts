// Batching: concurrent calls of one transition become one statement; while one is on its way the next gathers.

import { type ErrorCode, Refusal } from '../errors.ts';
import type { AnyStatement, Database } from './database.ts';
import { asRefusal, mayBeOneInputs, retryRace } from './failures.ts';
import { HeldWallets, type Item, Turns } from './held-wallets.ts';
import { MAX_PATIENT, type Pools } from './pool.ts';
import { isOutcome, type RawAnswer, type Runner } from './runner.ts';
import { encode, encodeBatch } from './statement.ts';

type Observe = Runner['observe'];

/** Inputs in one statement, and their bytes: bigger ones only lengthen the locks. */
const MAX_INPUTS = 500;
const MAX_BYTES = 4_000_000;
/**
 * So many have to wait before another batch goes beside those on their way: a statement costs as much by itself as a dozen
 * inputs, and two of few cost more than they save.
 */
const WORTH_ANOTHER = 48;
/**
 * So many that came while a batch was on its way are a crowd: more come behind them, so the next batch waits until it is worth
 * one, for as long as the last one took at most. Fewer go at once: a caller by himself, or one batch after the other, waits for nothing.
 */
const CROWD = 10;
const MAX_GATHER_MS = 5;
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

/** The batching runner over Recoup's own pools. */
export class BatchingRunner implements Runner {
  readonly db: Database;
  readonly #pools: Pools;
  readonly #lines = new Map<AnyStatement, Line>();
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
    let line = this.#lines.get(statement);
    if (!line) {
      line = new Line(statement, this.#pools, this.#turns, this.observe);
      this.#lines.set(statement, line);
    }
    const row = (input as Record<string, unknown>)[statement.holds] ?? '';
    return line.add(String(row), encode(statement, input)) as Promise<A>;
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
    await Promise.all([...this.#lines.values()].map((line) => line.idle()));
  }
}

/**
 * The calls of one statement: those that wait, and the batches on their way. Batches at once share no wallet: they would
 * find each other's held, and its inputs would lose their order.
 */
class Line {
  readonly #statement: AnyStatement;
  readonly #pools: Pools;
  readonly #observe: Observe;
  #waiting: Item[] = [];
  #sequence = 0;
  /** Inputs in the next batch: fewer while a value is being looked for that the database refuses. */
  #most = MAX_INPUTS;
  #running = 0;
  /** The wallets of the batches on their way, each with its inputs that were met meanwhile; only where there may be several. */
  readonly #away = new Map<string, Item[]>();
  readonly #held: HeldWallets;
  /** Set while a crowd gathers. */
  #gathering: NodeJS.Timeout | undefined;
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
        if (this.#running === 0 && this.#waiting.length === 1) queueMicrotask(() => this.#pump());
        else if (this.#waiting.length >= WORTH_ANOTHER) this.#pump();
      }
    });
  }

  idle(): Promise<void> {
    return this.#open === 0 ? Promise.resolve() : new Promise((done) => this.#idle.push(done));
  }

  /** Sends what may go now: a first batch of however few, another beside it only of many. */
  #pump(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    while (
      this.#running < this.#statement.atOnce &&
      this.#waiting.length >= (this.#running === 0 ? 1 : WORTH_ANOTHER)
    ) {
      const items = this.#take();
      if (items.length === 0) return;
      this.#running += 1;
      void this.#send(items);
    }
  }

  #take(): Item[] {
    const items: Item[] = [];
    let bytes = 0;
    let looked = 0;
    for (const item of this.#waiting) {
      const behind = this.#away.get(item.wallet);
      if (behind) behind.push(item);
      else {
        bytes += item.json.length;
        if (items.length > 0 && (items.length >= this.#most || bytes > MAX_BYTES)) break;
        items.push(item);
      }
      looked += 1;
    }
    this.#waiting.splice(0, looked);
    if (this.#statement.atOnce > 1) for (const { wallet } of items) this.#away.set(wallet, []);
    return items;
  }

  /**
   * Sends a batch. Where one of the inputs makes the database refuse or stumble, they go again in smaller batches, in the same
   * order, until that one stands alone.
   */
  async #send(items: Item[]): Promise<void> {
    const sent = performance.now();
    let back: Item[] = [];
    try {
      const run = () => this.#pools.hot.run(this.#statement, encodeBatch(items.map((item) => item.json)), 'shared');
      back = this.#settle(items, (await retryRace(run)) as RawAnswer[]);
    } catch (error) {
      if (mayBeOneInputs(error) && items.length > 1) {
        this.#most = items.length >> 1;
        back = items;
      } else {
        this.#most = MAX_INPUTS;
        for (const item of items) item.reject(error);
      }
    }
    this.#running -= 1;
    this.#return(items, back);
    if (this.#waiting.length === 0 && this.#running === 0) this.#most = MAX_INPUTS;
    const { length } = this.#waiting;
    // What goes again has waited already.
    if (this.#running === 0 && back.length === 0 && length >= CROWD && length < WORTH_ANOTHER) {
      this.#gathering ??= setTimeout(() => this.#pump(), Math.min(performance.now() - sent, MAX_GATHER_MS));
    } else this.#pump();
  }

  /** Answers those that have their outcome, and gives those that go again. */
  #settle(items: Item[], answers: RawAnswer[]): Item[] {
    const open = new Set(items);
    const back: Item[] = [];
    for (const answer of answers) {
      const item = items[answer.ord - 1]!;
      open.delete(item);
      if (answer.outcome === 'again') back.push(item);
      else if (answer.outcome === 'busy' && this.#statement.waits) {
        item.skips += 1;
        item.wallet = answer.held ?? item.wallet;
        back.push(item);
      } else item.resolve(answer);
    }
    for (const item of open) item.reject(new Error(`${this.#statement.name} left an input without an answer`));
    return back.sort((a, b) => a.sequence - b.sequence);
  }

  /** What goes again stands before what came later, so that a wallet's inputs keep their order; all of a held wallet's go. */
  #return(sent: readonly Item[], back: readonly Item[]): void {
    const met: Item[] = [];
    if (this.#statement.atOnce > 1) {
      for (const { wallet } of sent) {
        const behind = this.#away.get(wallet);
        // One by one: what waits for one wallet may be more than a call takes as arguments.
        if (behind && this.#away.delete(wallet)) for (const item of behind) met.push(item);
      }
    }
    if (back.length + met.length > 0) this.#waiting = [...back, ...met, ...this.#waiting];
    for (const wallet of new Set(back.filter(({ skips }) => skips >= MAX_SKIPS).map((item) => item.wallet))) {
      this.#held.add(
        wallet,
        this.#waiting.filter((item) => item.wallet === wallet),
      );
      this.#waiting = this.#waiting.filter((item) => item.wallet !== wallet);
    }
  }

  /** A call has its outcome. */
  close(outcome: string): void {
    if (isOutcome(outcome)) this.#observe(this.#statement.name, outcome);
    this.#open -= 1;
    if (this.#open === 0) for (const done of this.#idle.splice(0)) done();
  }
}

/** One call of a line. A class, not closures: thousands wait at once, and all of them are moved by the garbage collector. */
class Call implements Item {
  skips = 0;
  readonly since = performance.now();
  readonly sequence: number;
  wallet: string;
  readonly json: string;
  readonly #line: Line;
  readonly #resolve: (answer: RawAnswer) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    line: Line,
    sequence: number,
    wallet: string,
    json: string,
    resolve: (answer: RawAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#line = line;
    this.sequence = sequence;
    this.wallet = wallet;
    this.json = json;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  resolve(answer: RawAnswer): void {
    this.#resolve(answer);
    this.#line.close(answer.outcome);
  }

  reject(error: unknown): void {
    const refusal = asRefusal(error, false);
    this.#reject(refusal);
    this.#line.close(/^(wallet|upstream)_busy$/.test(refusal.code) ? refusal.code : 'error');
  }
}
