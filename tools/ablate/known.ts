// What the simulation and the violations cannot notice: the test that does, or why a condition may go unnoticed.

/** A guard by its id, and the test that fails without it: file and name. */
export const TESTS: Readonly<Record<string, readonly [file: string, name: string]>> = {};

/** A guard or rule that changes no answer and no row, and why it is there. A text that ends in `*` stands for all that begin so. */
export const REASONS: Readonly<Record<string, string>> = {
  'jobs_counters · (attempt >= 0)': 'follows from 0 ≤ failures ≤ attempt; it is there for who reads the rule',
  jobs_canceled_not_succeeded:
    'follows from jobs_succeeded and jobs_canceled, as a job has one state; it is there to say the promise in one line',
};

export function reasonFor(id: string): string | undefined {
  const key = Object.keys(REASONS).find((known) =>
    known.endsWith('*') ? id.startsWith(known.slice(0, -1)) : known === id,
  );
  return key === undefined ? undefined : REASONS[key];
}
