// Runs a transaction until it does not lose a race: from the start each time, a few times.
import type { Refusal } from '../errors.ts';
import { asRefusal } from './failures.ts';

const TIMES = 5;

/**
 * `once` is one whole run. What it throws that is no lost race is thrown on as `otherwise` makes it; a race that is lost for good, or a lock that was
 * waited for long enough already, as `lost` does.
 */
export async function untilItWins<T>(
  once: () => Promise<T>,
  lost: (refusal: Refusal, error: unknown) => unknown,
  otherwise: (refusal: Refusal, error: unknown) => unknown,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await once();
    } catch (error) {
      const refusal = asRefusal(error, true);
      if (refusal.code !== 'transaction_conflict') throw otherwise(refusal, error);
      if (attempt === TIMES || refusal.details.sqlstate === '55P03') throw lost(refusal, error);
    }
  }
}
