// Failures of a caller within a while: after so many of them the next try waits.
import { Refusal } from 'recoup';

export class Failures {
  readonly #max: number;
  readonly #withinMs: number;
  readonly #seen = new Map<string, { count: number; since: number }>();

  constructor({ max, withinMs }: { max: number; withinMs: number }) {
    this.#max = max;
    this.#withinMs = withinMs;
  }

  /** Refuses `rate_limited`. */
  check(who: string): void {
    const seen = this.#seen.get(who);
    if (seen && performance.now() - seen.since > this.#withinMs) this.#seen.delete(who);
    else if (seen && seen.count >= this.#max)
      throw new Refusal('rate_limited', 'Too many tries that failed: wait a minute.');
  }

  note(who: string): void {
    const seen = this.#seen.get(who);
    if (seen) seen.count += 1;
    // Bounded: whoever comes from ten thousand addresses starts anew.
    else {
      if (this.#seen.size >= 10_000) this.#seen.clear();
      this.#seen.set(who, { count: 1, since: performance.now() });
    }
  }
}
