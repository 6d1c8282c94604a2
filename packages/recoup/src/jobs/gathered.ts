// Gathered claims: callers of one process that ask for the same at the same time are served by one claim, in the order in which they came.

/** What a claim found: things to hand out, and why there are no more; or a word that is for everybody. */
export type Haul<T, Why, Word> = { jobs: T[]; out: Why | null } | Word;

interface Asker<H> {
  count: number;
  serve(haul: H): void;
  fail(error: unknown): void;
}

/** What one claim asks for at most. */
const MOST = 100;
/**
 * Claims on their way at once for the same: while one commits the next is being made. More would pass over what those have locked, and cost as
 * much each by itself.
 */
const AT_ONCE = 2;

export class Gathered<T, Why, Word extends string> {
  readonly #lines = new Map<string, { running: number; waiting: Asker<Haul<T, Why, Word>>[] }>();

  /** `claim` asks for so many. Who asks first is served first; who gets less than he asked for is told why. */
  ask(key: string, count: number, claim: (count: number) => Promise<Haul<T, Why, Word>>): Promise<Haul<T, Why, Word>> {
    return new Promise((serve, fail) => {
      const line = this.#lines.get(key) ?? { running: 0, waiting: [] };
      this.#lines.set(key, line);
      line.waiting.push({ count, serve, fail });
      if (line.running < AT_ONCE) {
        line.running += 1;
        // In a microtask: who asks in the same turn shares it.
        queueMicrotask(() => void this.#run(key, claim));
      }
    });
  }

  async #run(key: string, claim: (count: number) => Promise<Haul<T, Why, Word>>): Promise<void> {
    const line = this.#lines.get(key)!;
    while (line.waiting.length > 0) {
      const askers: Asker<Haul<T, Why, Word>>[] = [];
      let count = 0;
      while (line.waiting[0] && (count === 0 || count + line.waiting[0].count <= MOST)) {
        count += line.waiting[0].count;
        askers.push(line.waiting.shift()!);
      }
      try {
        share(askers, await claim(count));
      } catch (error) {
        for (const { fail } of askers) fail(error);
      }
    }
    line.running -= 1;
    if (line.running === 0) this.#lines.delete(key);
  }
}

function share<T, Why, Word extends string>(askers: Asker<Haul<T, Why, Word>>[], haul: Haul<T, Why, Word>): void {
  for (const { count, serve } of askers) {
    if (typeof haul === 'string') serve(haul);
    else {
      const jobs = haul.jobs.splice(0, count);
      serve({ jobs, out: jobs.length < count ? haul.out : null });
    }
  }
}
