// Many callers at once: half of them each in a transaction on a connection of its own, half batched by four replicas.
import type { InTransaction, OpenOptions, Recoup } from '../../src/index.ts';
import { answer, times } from './look.ts';
import type { Stage } from './stage.ts';

const CONNECTIONS = 50;
const REPLICAS = 4;

export class Crowd {
  readonly #wide: Recoup;
  readonly #replicas: readonly Recoup[];

  private constructor(wide: Recoup, replicas: readonly Recoup[]) {
    this.#wide = wide;
    this.#replicas = replicas;
  }

  static async on(stage: Stage, options: Partial<OpenOptions> = {}): Promise<Crowd> {
    // Waiting in line is what the crowd is for: nobody gives up.
    const wide = await stage.replica({ maxConnections: CONNECTIONS, lockTimeoutMs: 60_000, ...options });
    const replicas = await Promise.all(times(REPLICAS, () => stage.replica({ lockTimeoutMs: 60_000, ...options })));
    return new Crowd(wide, replicas);
  }

  /** What this many callers are answered, who all call at once. */
  all(count: number, call: (recoup: InTransaction, index: number) => Promise<unknown>): Promise<string[]> {
    return Promise.all(times(count, (index) => answer(this.one(index, call))));
  }

  one<T>(index: number, call: (recoup: InTransaction, index: number) => Promise<T>): Promise<T> {
    if (index % 2 === 0) return this.#wide.transaction((inside) => call(inside, index));
    return call(this.#replicas[(index >> 1) % REPLICAS]!, index);
  }
}
