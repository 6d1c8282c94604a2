// Several of our own statements as one transaction: from the start where they lost a race, and no caller's connection.
import { Refusal } from '../errors.ts';
import type { Database } from './database.ts';
import { asRefusal, isConflict, kindOf, retryRace } from './failures.ts';
import type { Pools } from './pool.ts';
import type { Runner } from './runner.ts';

/** Runs `work` in a transaction of its own. Wallets are passed over there: what a statement waits for is an upstream (`upstream_busy`). */
export const joinedTransactions =
  (pools: Pools, runnerOf: (db: Database) => Runner) =>
  async <T>(work: (runner: Runner) => Promise<T>): Promise<T> => {
    try {
      return await retryRace(() => pools.transaction('joined', (_client, db) => work(runnerOf(db))));
    } catch (error) {
      if (isConflict(error) || kindOf(error) === 'locked')
        throw new Refusal('upstream_busy', undefined, {}, { cause: error });
      throw asRefusal(error, false);
    }
  };
