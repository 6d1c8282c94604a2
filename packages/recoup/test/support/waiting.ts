// Waits for conditions instead of times: a rival that stands in line for a lock, anything that becomes true.
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestDatabase } from '../../src/testing.ts';

/** Polls until the condition holds; the test's own time limit ends what never does. */
export async function until<T>(condition: () => Promise<T | false | undefined> | T | false | undefined): Promise<T> {
  for (;;) {
    const got = await condition();
    if (got) return got;
    await sleep(2);
  }
}

/** Until this many sessions of the database wait for a lock. */
export async function untilWaiting(db: Pick<TestDatabase, 'query'>, sessions = 1): Promise<void> {
  const sql = `select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(async () => Number((await db.query(sql))[0]?.waiting) >= sessions);
}

/** Whether a call has been answered yet. */
export function watch<T>(call: Promise<T>): { readonly settled: boolean; readonly call: Promise<T> } {
  const state = { settled: false, call };
  const settle = () => {
    state.settled = true;
  };
  call.then(settle, settle);
  return state;
}

/** Until a call is answered, or a session of that application name waits for a lock. Says which. */
export async function settledOrWaiting(
  db: TestDatabase,
  call: Promise<unknown>,
  name: string,
): Promise<'settled' | 'waiting'> {
  const watched = watch(call);
  const sql = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and application_name = $1`;
  return until(async () => {
    if (watched.settled) return 'settled';
    return (await db.query(sql, [name])).length > 0 ? 'waiting' : undefined;
  });
}
