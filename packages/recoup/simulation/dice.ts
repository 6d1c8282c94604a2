// Everything that is left to chance in a simulation: drawn from its seed, and from nothing else.
import { randomOf } from '../src/testing/flaky-plan.ts';

export class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomOf(`simulation ${seed}`);
  }

  /** True this often: 0 never, 1 always. */
  chance(rate: number): boolean {
    return this.#next() < rate;
  }

  /** An integer, both ends included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.#next() * (to - from + 1));
  }

  pick<T>(some: readonly T[]): T {
    return some[this.between(0, some.length - 1)]!;
  }

  /** One of the names, each as likely as its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const names = Object.keys(weights) as K[];
    let left = this.#next() * names.reduce((sum, name) => sum + weights[name], 0);
    for (const name of names) {
      left -= weights[name];
      if (left < 0) return name;
    }
    return names.at(-1)!;
  }
}
