// What a use used, booked on every limit that counts it, before anything else is said of it.
import type { Runner } from '../db/runner.ts';
import { Refusal } from '../errors.ts';
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
  const { outcome, turned } = await runner.call(useUpstream, { ...of, ...row, scopes });
  for (let round = 0; turned !== null && round < MAX_APART; round++) {
    if ((await runner.read(setApart, [{ upstream_id: turned }]))[0]!.outcome !== 'again') break;
  }
  return outcome as 'booked';
}

/** What a call has done when a later statement of it is refused. */
export interface Standing {
  use: CapacityOutcome<'window.use'> | null;
  report?: CapacityOutcome<'upstream.report'>;
}

/**
 * Runs what follows. Where that is refused, the refusal says what stands nevertheless: each statement is a transaction of its own, unless the
 * caller has one. Said again, what stands counts once.
 */
export async function standing<T>(runner: Runner, done: Standing, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const stands = Object.entries(done).filter(([, outcome]) => outcome !== null);
    if (!(error instanceof Refusal) || runner.db.inTransaction || stands.length === 0) throw error;
    const words = stands.map(([what, outcome]) => `its ${what} is ${outcome}`).join(', and ');
    const message = `${error.message} But ${words}: say it again, that counts once.`;
    throw new Refusal(error.code, message, { ...error.details, ...Object.fromEntries(stands) }, { cause: error });
  }
}
