// Turns: work on one pool goes a few at a time, in the order in which it came.

/**
 * Selections lock the row that they take, and pass over those that are locked: a crowd from one process would look at a small pool again and
 * again, and find it taken by itself. Waiting here costs nothing.
 */
const AT_ONCE = 2;

export class Turns {
  readonly #atOnce: number;
  readonly #pools = new Map<string, { running: number; waiting: (() => void)[] }>();

  constructor(atOnce = AT_ONCE) {
    this.#atOnce = atOnce;
  }

  async take<T>(pool: string, work: () => Promise<T>): Promise<T> {
    const turns = this.#pools.get(pool) ?? { running: 0, waiting: [] };
    this.#pools.set(pool, turns);
    if (turns.running >= this.#atOnce) await new Promise<void>((go) => turns.waiting.push(go));
    else turns.running += 1;
    try {
      return await work();
    } finally {
      // Who waits takes this turn over.
      const next = turns.waiting.shift();
      if (next) next();
      else {
        turns.running -= 1;
        if (turns.running === 0) this.#pools.delete(pool);
      }
    }
  }
}
