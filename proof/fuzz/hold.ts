// A lane: cases of one kind, generated from a seed until time is over; the first that breaks a promise is made small.
import fc, { type Arbitrary } from 'fast-check';

export interface Budget {
  seed: number;
  ms: number;
  /** Of an earlier finding: runs that case alone. */
  path?: string | undefined;
}

export interface Lane {
  readonly name: string;
  run(budget: Budget): Promise<Ran>;
}

export interface Finding {
  lane: string;
  seed: number;
  path: string;
  /** What was sent, for people. */
  sent: string;
  why: string;
}

export interface Ran {
  lane: string;
  cases: number;
  finding: Finding | null;
}

/** Holds `check` against cases: it throws where a promise is broken. */
export function lane<T>(
  name: string,
  cases: Arbitrary<T>,
  check: (one: T) => Promise<void>,
  show: (one: T) => string,
): Lane {
  return {
    name,
    async run({ seed, ms, path }) {
      let count = 0;
      const property = fc.asyncProperty(cases, async (one) => {
        count++;
        await check(one);
      });
      const until =
        path === undefined ? { interruptAfterTimeLimit: ms, numRuns: 10_000_000 } : { path, endOnFailure: true };
      const result = await fc.check(property, { seed, markInterruptAsFailure: false, ...until });
      if (!result.failed || !result.counterexample) return { lane: name, cases: count, finding: null };
      const why = String((result.errorInstance as Error | undefined)?.message ?? result.errorInstance);
      const sent = show(result.counterexample[0]);
      return {
        lane: name,
        cases: count,
        finding: { lane: name, seed, path: result.counterexamplePath ?? '', sent, why },
      };
    },
  };
}
