// Inputs whose wallet another transaction holds: sent by statements that wait for that wallet alone, within a time of their own.
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../errors.ts';
import type { AnyStatement } from './database.ts';
import { kindOf, mayBeOneInputs, retryRace } from './failures.ts';
import type { Pools } from './pool.ts';
import { decide, type RawAnswer } from './runner.ts';
import { encodeBatch } from './statement.ts';

/** One input on its way to its answer. */
export interface Item {
  sequence: number;
  /** The wallet, or what else the statement holds first. */
  wallet: string;
  json: string;
  skips: number;
  /** When the call was made, on the process's monotonic clock. */
  since: number;
  resolve(answer: RawAnswer): void;
  reject(error: unknown): void;
}

/** How often a wallet is tried that has no turn to wait for it, in ms. */
const TRY_EVERY = 25;
const MAX_INPUTS = 500;

/** So many may wait in the database at once: each takes a connection. */
export class Turns {
  #free: number;

  constructor(free: number) {
    this.#free = free;
  }

  take(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  give(): void {
    this.#free += 1;
  }
}

/** The held wallets of one statement. */
export class HeldWallets {
  readonly #statement: AnyStatement;
  readonly #pools: Pools;
  readonly #turns: Turns;
  readonly #queues = new Map<string, Item[]>();

  constructor(statement: AnyStatement, pools: Pools, turns: Turns) {
    this.#statement = statement;
    this.#pools = pools;
    this.#turns = turns;
  }

  get size(): number {
    return this.#queues.size;
  }

  has(wallet: string): boolean {
    return this.#queues.has(wallet);
  }

  /** Takes inputs of one wallet, in their order, behind those that wait for it already. */
  add(wallet: string, items: readonly Item[]): void {
    const queue = this.#queues.get(wallet);
    if (queue) for (const item of items) queue.push(item);
    else {
      const fresh = [...items];
      this.#queues.set(wallet, fresh);
      void this.#serve(wallet, fresh);
    }
  }

  async #serve(wallet: string, queue: Item[]): Promise<void> {
    while (queue.length > 0) {
      const items = queue.splice(0, MAX_INPUTS);
      const open = this.#turns.take() ? await this.#waitFor(items) : await this.#tryAgain(items);
      const now = performance.now();
      const [late, rest] = split(open, (item) => now - item.since >= this.#pools.lockTimeoutMs);
      for (const item of late) item.reject(this.#busy(wallet));
      queue.unshift(...rest);
    }
    // In the same turn as the queue was seen empty: what is added later goes the ordinary way.
    this.#queues.delete(wallet);
  }

  #busy(id: string): Refusal {
    if (this.#statement.holds === 'wallet_id') return new Refusal('wallet_busy', undefined, { wallet: id });
    return new Refusal('upstream_busy', undefined, { [this.#statement.holds.replace(/_id$/, '')]: id });
  }

  /** In a transaction that waits for the wallet, and holds no other meanwhile. Returns the items still open. */
  async #waitFor(items: Item[]): Promise<Item[]> {
    try {
      const [first] = items;
      const left = Math.max(this.#pools.lockTimeoutMs - (performance.now() - first!.since), 1);
      return await this.#decide(items, Math.ceil(left));
    } finally {
      this.#turns.give();
    }
  }

  async #decide(items: Item[], waitMs: number): Promise<Item[]> {
    const inputs = items.map((item) => item.json);
    try {
      const work = () =>
        this.#pools.transaction('patient', (_client, db) => decide(db, this.#statement, inputs), waitMs);
      const answers = await retryRace(work);
      for (const [index, item] of items.entries()) item.resolve(answers[index] as RawAnswer);
      return [];
    } catch (error) {
      if (kindOf(error) === 'locked') return items;
      if (!mayBeOneInputs(error) || items.length === 1) {
        for (const item of items) item.reject(error);
        return [];
      }
      // It may be the fault of one of them: each alone.
      const open: Item[] = [];
      for (const item of items) open.push(...(await this.#decide([item], waitMs)));
      return open;
    }
  }

  /** All turns are taken: looks now and then whether the wallet is free, without waiting for it. */
  async #tryAgain(items: Item[]): Promise<Item[]> {
    await sleep(TRY_EVERY);
    try {
      const run = () =>
        this.#pools.hot.run<RawAnswer>(this.#statement, encodeBatch(items.map((i) => i.json)), 'shared');
      const open = new Set(items);
      for (const answer of await retryRace(run)) {
        const item = items[answer.ord - 1]!;
        if (answer.outcome === 'again' || answer.outcome === 'busy') continue;
        open.delete(item);
        item.resolve(answer);
      }
      return [...open];
    } catch (error) {
      // Whose fault it is is looked for with a turn; what else went wrong concerns them all.
      if (mayBeOneInputs(error) && items.length > 1) return items;
      for (const item of items) item.reject(error);
      return [];
    }
  }
}

function split<T>(all: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  return [all.filter(test), all.filter((one) => !test(one))];
}
