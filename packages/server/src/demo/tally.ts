// Counts Recoup's answers, in this process and as the workers report theirs.

/** By transition and outcome, as in `job.succeed duplicate`. */
export type Counts = Record<string, number>;

/** Answers to signals that changed nothing, as they should not: the job had heard it, or something later, before. */
const IGNORED = ['job.succeed duplicate', 'job.fail duplicate', 'job.fail stale', 'job.fail succeeded'];

export class Tally {
  readonly own: Counts = {};
  readonly #workers = new Map<string, Counts>();

  readonly transition = (transition: string, outcome: string): void => {
    const key = `${transition} ${outcome}`;
    this.own[key] = (this.own[key] ?? 0) + 1;
  };

  /** A worker's counts replace what it reported before: what a killed one reported last stays. */
  heard(worker: string, counts: Counts): void {
    this.#workers.set(worker, counts);
  }

  get ignored(): number {
    const all = [this.own, ...this.#workers.values()];
    return all.reduce((sum, counts) => IGNORED.reduce((total, key) => total + (counts[key] ?? 0), sum), 0);
  }
}
