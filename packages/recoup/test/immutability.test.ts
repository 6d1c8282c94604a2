// The ledger is append-only: by hand, by its owner, by a replication session; and Recoup itself lives with those rights.
import pg from 'pg';
import { expect } from 'vitest';
import { open } from '../src/index.ts';
import { answer, digest } from './support/look.ts';
import { newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();

/** Ways to rewrite history, also where no row would match. */
const REWRITES = [
  'update recoup.entries set amount = amount + 1',
  'update recoup.entries set reason = null where false',
  'delete from recoup.entries',
  'delete from recoup.entries where false',
  'truncate recoup.entries',
  'truncate recoup.wallets, recoup.entries cascade',
  `insert into recoup.entries select * from recoup.entries on conflict (wallet_id, seq) do update set amount = 0`,
  `merge into recoup.entries e using recoup.wallets w on e.wallet_id = w.id when matched then update set amount = 0`,
  `merge into recoup.entries e using recoup.wallets w on e.wallet_id = w.id when matched then delete`,
  `with gone as (delete from recoup.entries returning *) select * from gone`,
];

async function codeOf(client: { query(sql: string): Promise<unknown> }, sql: string): Promise<string> {
  return client.query(sql).then(
    () => 'done',
    (error: { code: string }) => error.code,
  );
}

async function withEntries({ recoup }: Stage, wallet: string): Promise<void> {
  await recoup.wallets.open({ wallet, customer: 'c' });
  await recoup.wallets.grant({ wallet, key: 'start', amount: 100 });
  await recoup.jobs.submit({ wallet, job: 'job', queue: null, price: 10 });
  await recoup.jobs.fail({ wallet, job: 'job' });
}

onEvery(
  'update, delete and truncate of entries by hand are refused, also under session_replication_role = replica',
  async (s) => {
    await withEntries(s, newId('wallet'));
    const before = await digest(s.db);
    const client = await s.client();
    for (const setting of ['origin', 'replica', 'local']) {
      await client.query(`set session_replication_role = ${setting}`);
      for (const sql of REWRITES) {
        // A superuser is held by the trigger alone: restrict_violation.
        expect([setting, sql, await codeOf(client, sql)]).toEqual([setting, sql, '23001']);
      }
    }
    expect(await digest(s.db)).toBe(before);
  },
);

/** A role without any power beyond its own schema, and a client of it. */
async function owner(s: Stage): Promise<{ url: string; client: pg.Client; gone: () => Promise<void> }> {
  const name = `owner_${process.pid}_${newId('x').slice(2)}`;
  const url = new URL(s.db.url);
  const database = url.pathname.slice(1);
  await s.db.query(`create role ${name} login password 'secret'`);
  await s.db.query(`grant create on database ${database} to ${name}`);
  [url.username, url.password] = [name, 'secret'];
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  const gone = async () => {
    await client.end();
    await s.db.query(`drop owned by ${name} cascade`);
    await s.db.query(`drop role ${name}`);
  };
  return { url: url.href, client, gone };
}

onEvery('the owner of the tables lacks the right, and where he grants it to himself the trigger refuses', async (s) => {
  const { url, client, gone } = await owner(s);
  const recoup = await open({ connection: url, schema: 'owned', migrate: true, sweep: false });
  await recoup.wallets.open({ wallet: 'w', customer: 'c' });
  await recoup.wallets.grant({ wallet: 'w', key: 'start', amount: 100 });
  const rewrites = REWRITES.map((sql) => sql.replaceAll('recoup.', 'owned.'));
  for (const sql of rewrites) expect([sql, await codeOf(client, sql)]).toEqual([sql, '42501']);
  await client.query('grant all on owned.entries to current_user');
  for (const sql of rewrites) expect([sql, await codeOf(client, sql)]).toEqual([sql, '23001']);
  expect(await codeOf(client, `set session_replication_role = replica`)).toBe('42501');
  expect(await recoup.verify()).toMatchObject({ ok: true, entries: 1 });
  await recoup.close();
  await gone();
});

onEvery('a role with nothing but its own schema is enough for everything that Recoup does', async (s) => {
  const { url, gone } = await owner(s);
  const recoup = await open({ connection: url, schema: 'owned', migrate: true, sweep: false });
  const wallet = 'w';
  await recoup.wallets.open({ wallet, customer: 'c' });
  await recoup.wallets.grant({ wallet, key: 'start', amount: 100, note: 'a note' });
  await recoup.wallets.adjust({ wallet, key: 'less', amount: -10 });
  await recoup.queues.configure('q', { maxFailures: 1 });
  for (const job of ['a', 'b', 'c']) await recoup.jobs.submit({ wallet, job, queue: 'q', price: 10 });
  expect((await recoup.jobs.lease({ queue: 'q', count: 3, requestId: 'r' })).length).toBe(3);
  expect(await answer(recoup.jobs.fail({ wallet, job: 'a', attempt: 1 }))).toBe('dead');
  expect(await answer(recoup.jobs.deadLetters.redrive({ wallet, job: 'a' }))).toBe('redriven');
  expect(await answer(recoup.jobs.succeed({ wallet, job: 'a', finalPrice: 5 }))).toBe('reclaimed');
  expect(await answer(recoup.jobs.release({ wallet, job: 'b', attempt: 1 }))).toBe('released');
  expect(await answer(recoup.jobs.cancel({ wallet, job: 'b', keep: 1 }))).toBe('canceled');
  expect(await answer(recoup.jobs.extend({ wallet, job: 'c', attempt: 1 }))).toBe('extended');
  expect(await answer(recoup.jobs.handOver({ wallet, job: 'c', attempt: 1 }))).toBe('handed_over');
  await recoup.sweep();
  expect(await recoup.jobs.prune({ olderThanMs: 0 })).toBe(2);
  expect(await recoup.verify()).toMatchObject({ ok: true });
  await recoup.close();
  await gone();
});

onEvery('the constraints hold what Recoup would never write', async (s) => {
  const job = await s.running(40);
  const wallet = `wallet_id = '${job.wallet}'`;
  const entry = (columns: string, values: string) =>
    `insert into recoup.entries (wallet_id, seq, type, amount, balance, created_at, ${columns}) select '${job.wallet}', 99, ${values}`;
  const wrong = [
    `update recoup.jobs set succeeded_at = now() where ${wallet}`,
    `update recoup.jobs set canceled_at = now() where ${wallet}`,
    `update recoup.jobs set state = 'succeeded' where ${wallet}`,
    `update recoup.jobs set reclaimed_at = now() where ${wallet}`,
    `update recoup.jobs set settled_at = now(), final_price = 1 where ${wallet}`,
    `update recoup.jobs set final_price = 1 where ${wallet}`,
    `update recoup.jobs set state = 'dead', dead_at = now(), lease_until = null where ${wallet}`,
    `update recoup.jobs set state = 'queued', lease_until = null where ${wallet}`,
    `update recoup.jobs set state = 'running', lease_until = null where ${wallet}`,
    `update recoup.jobs set state = 'failed', lease_until = null, refunded_at = now() where ${wallet}`,
    `update recoup.jobs set price = -1 where ${wallet}`,
    `update recoup.jobs set failures = 2 where ${wallet}`,
    `update recoup.jobs set priority = 10 where ${wallet}`,
    `update recoup.wallets set balance = 9007199254740992 where id = '${job.wallet}'`,
    `update recoup.wallets set overdraft_limit = -1 where id = '${job.wallet}'`,
    entry('key', `'grant', 0, 0, now(), 'k'`),
    entry('key', `'grant', -1, 0, now(), 'k'`),
    entry('job_id', `'charge', 1, 0, now(), 'x'`),
    entry('job_id', `'refund', -1, 0, now(), 'x'`),
    entry('job_id', `'reclaim', 1, 0, now(), 'x'`),
    entry('job_id', `'grant', 1, 0, now(), 'x'`),
    entry('job_id', `'charge', -40, 0, now(), '${job.job}'`),
    entry('key', `'adjust', 1, 0, now(), 'start'`),
    entry('key', `'charge', -1, 0, now(), 'k'`),
    `insert into recoup.entries (wallet_id, seq, type, amount, balance, key, created_at) values ('fresh', 1, 'grant', 5, 6, 'k', now())`,
  ];
  const before = await digest(s.db);
  for (const sql of wrong) expect([sql, (await codeOf(s.db, sql)).slice(0, 2)]).toEqual([sql, '23']);
  expect(await digest(s.db)).toBe(before);
  expect(await s.recoup.verify()).toMatchObject({ ok: true });
});
