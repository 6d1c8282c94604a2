// What a provider's file holds: its rules, its windows, and where its windows decide more than its codes.
import type { Snapshot } from '../facts/facts.ts';
import type { Rule, Verdict } from '../parsing/match.ts';
import type { Reading } from '../parsing/reading.ts';

export interface Provider {
  /** The first that holds decides; then those of `shared.ts`, then the status alone. */
  readonly rules: readonly Rule[];
  /** What the answer says of the provider's quotas; read from successes too. */
  windows?(reading: Reading): Snapshot[];
  /** A wait that stands in the body, in ms. */
  waitMs?(reading: Reading): number | null;
  /** The reset of a used-up quota that the body does not name, in Unix ms. No snapshot: nothing later would correct it. */
  resetMs?(reading: Reading): number | null;
  /** Sees the windows and may know better than codes and status. Not asked where an operator's rule decided. */
  refine?(verdict: Verdict, reading: Reading, snapshots: readonly Snapshot[]): Verdict;
}
