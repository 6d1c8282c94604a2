// The order of locks: by the bytes of wallet and job, whatever collation the database has; who waits holds nothing behind it.
import pg from 'pg';
import { expect } from 'vitest';
import { type InTransaction, open, type Recoup } from '../src/index.ts';
import { answer, times } from './support/look.ts';
import { newId, type Stage, staging } from './support/stage.ts';
import { untilWaiting } from './support/waiting.ts';

const { onEvery } = staging();
const external = (wallet: string, job: string) => ({ wallet, job, queue: null, price: 1 });
// To an ICU database `a` stands before `B`; by bytes it stands behind it. `ä` and `z` likewise.
const WALLETS = ['a', 'B', 'c', 'D', 'z', 'ä', 'Z', 'é', 'e', '-', '_', '1'];

/** A database that sorts as people do, with funded wallets; gone when the work is done. */
async function inIcuDatabase(s: Stage, work: (url: string, recoup: Recoup) => Promise<void>): Promise<void> {
  const name = `icu_${process.pid}_${newId('x').slice(2)}`;
  await s.db.query(
    `create database ${name} template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US' locale 'C'`,
  );
  const url = new URL(s.db.url);
  url.pathname = `/${name}`;
  const recoup = await open({ connection: url.href, migrate: true, sweep: false });
  for (const wallet of WALLETS) {
    await recoup.wallets.open({ wallet, customer: 'c' });
    await recoup.wallets.grant({ wallet, key: 'start', amount: 1000 });
  }
  await work(url.href, recoup);
  expect(await recoup.verify()).toMatchObject({ ok: true });
  await recoup.close();
  await s.db.query(`drop database ${name} with (force)`);
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

onEvery('transactions that take the same wallets in opposite order never meet in a deadlock', (s) =>
  inIcuDatabase(s, async (url, one) => {
    const other = await open({ connection: url, sweep: false });
    const send = (recoup: Recoup, caller: string, order: string[]) =>
      Promise.all(
        times(60, (i) =>
          recoup.transaction(
            async ({ jobs }) =>
              (await jobs.submitMany(order.map((wallet) => external(wallet, `${caller} ${i}`)))).length,
          ),
        ),
      );
    const all = await Promise.all([send(one, 'one', WALLETS), send(other, 'other', WALLETS.toReversed())]);
    expect(all.flat()).toEqual(times(120, () => 12));
    await other.close();
    const client = await connected(url);
    const { rows } = await client.query(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    expect(rows).toEqual([{ deadlocks: 0 }]);
    await client.end();
  }),
);

/** Calls for several wallets, or several jobs of one, given in either order. */
const BATCHES: Readonly<
  Record<string, (recoup: InTransaction, names: readonly string[], of: 'wallets' | 'jobs') => Promise<unknown>>
> = {
  submit: ({ jobs }, names) => jobs.submitMany(names.map((wallet) => external(wallet, newId('new')))),
  grant: ({ wallets }, names) => wallets.grantMany(names.map((wallet) => ({ wallet, key: newId('key'), amount: 1 }))),
  fail: ({ jobs }, names, of) =>
    jobs.failMany(names.map((name) => (of === 'wallets' ? { wallet: name, job: 'job' } : { wallet: 'c', job: name }))),
  succeed: ({ jobs }, names, of) =>
    jobs.succeedMany(
      names.map((name) => (of === 'wallets' ? { wallet: name, job: 'job' } : { wallet: 'c', job: name })),
    ),
};

onEvery('a batch that waits for its first row, by bytes, holds none of those behind it', (s) =>
  inIcuDatabase(s, async (url, recoup) => {
    const [holder, rival, looker] = [await connected(url), await connected(url), await connected(url)];
    const db = { query: async (sql: string) => (await looker.query(sql)).rows as Record<string, unknown>[] };
    const tables = {
      wallets: 'select from recoup.wallets where id',
      jobs: `select from recoup.jobs where wallet_id = 'c' and id`,
    };
    for (const wallet of ['a', 'B']) await recoup.jobs.submit(external(wallet, 'job'));
    for (const job of ['a', 'B']) await recoup.jobs.submit(external('c', job));
    for (const [name, call] of Object.entries(BATCHES)) {
      for (const [of, sql] of Object.entries(tables) as ['wallets' | 'jobs', string][]) {
        if (of === 'jobs' && (name === 'submit' || name === 'grant')) continue;
        for (const order of [
          ['a', 'B'],
          ['B', 'a'],
        ]) {
          await holder.query('begin');
          await holder.query(`${sql} = 'B' for update`);
          await rival.query('begin');
          const waiting = answer(call(recoup.using(rival), order, of).then(() => ({ outcome: 'done' })));
          await untilWaiting(db);
          const free = await looker.query(`${sql} = 'a' for update nowait`).then(
            () => 'free',
            (error: { code: string }) => error.code,
          );
          expect([name, of, order, free]).toEqual([name, of, order, 'free']);
          await holder.query('rollback');
          expect(await waiting).toBe('done');
          await rival.query('rollback');
        }
      }
    }
    await Promise.all([holder, rival, looker].map((client) => client.end()));
  }),
);
