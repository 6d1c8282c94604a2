// What a use used, booked on every limit that counts it, before anything else is said of it.
import type { Runner } from '../db/runner.ts';
import type { CapacityOutcome } from '../outcomes.ts';
import { type Used, type UseKey, useInput } from '../windows/inputs.ts';
import { useUpstream } from './limits.ts';
import { setApart } from './quota.ts';

/** Where others change the limit so often, one of them says it. */
const MAX_APART = 3;

/** Of an upstream, or of the one that the lease is of. A statement of its own: it applies whatever becomes of the report. Null: nothing was to be booked. */
export async function bookUse(
  runner: Runner,
  upstream: string | null,
  scopes: string[],
  use: Used | undefined,
  by: UseKey,
): Promise<CapacityOutcome<'window.use'> | null> {
  const row = useInput(use, by);
  if (row === null) return null;
  const of = { upstream_id: upstream, lease_id: by.lease ?? null };
  const { outcome, full } = await runner.call(useUpstream, { ...of, ...row, scopes });
  for (let round = 0; full !== null && round < MAX_APART; round++) {
    if ((await runner.read(setApart, [{ upstream_id: full }]))[0]!.outcome !== 'again') break;
  }
  return outcome as 'booked';
}
