// The same races behind a transaction-mode pooler: far fewer connections than callers, and none of them anybody's own.
import { afterAll } from 'vitest';
import { hasPgBouncer, startPgBouncer } from './support/pgbouncer.ts';
import { races } from './support/races.ts';
import { type Stage, servers, staging } from './support/stage.ts';
import { type Pooler, startTransactionPooler } from './support/transaction-pooler.ts';

const CONNECTIONS = 12;
const poolers = new Map<Stage, Promise<Pooler>>();
afterAll(async () => {
  for (const pooler of poolers.values()) await (await pooler).stop();
});
const poolerOf = (s: Stage): Promise<Pooler> => {
  // PgBouncer, where it is installed, in front of one server, and what stands in for it in front of the others.
  const start = hasPgBouncer && s.server === servers[0] ? startPgBouncer : startTransactionPooler;
  const pooler = poolers.get(s) ?? start(s.db.url, CONNECTIONS);
  poolers.set(s, pooler);
  return pooler;
};

races(staging().onEvery, async (s) => ({ connection: (await poolerOf(s)).url, pooler: true }));
