// Crashes: PostgreSQL and connections killed at any point of any transition; what was answered stands, what is there agrees.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { open, type Recoup, Refusal } from '../src/index.ts';
import { named, times } from './support/look.ts';
import { RestartableServer } from './support/restartable-server.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';

const { onEvery } = staging();
const folder = mkdtempSync(join(tmpdir(), 'recoup-crash-'));
chmodSync(folder, 0o755);
const servers: RestartableServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.gone();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});

/** What callers were told, to be held against what is there afterwards. */
interface Told {
  charged: string[];
  refunded: string[];
  reclaimed: string[];
  granted: string[];
}

/** Sends jobs through their whole lives until it is told to stop; every call that is not answered is repeated later. */
async function live(recoup: Recoup, wallet: string, queue: string, told: Told, running: () => boolean): Promise<void> {
  const heard = async (call: () => Promise<unknown>): Promise<string> => {
    for (;;) {
      try {
        return named(await call());
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (!['database_unavailable', 'wallet_busy'].includes(error.code)) return error.code;
        if (!running()) return 'unheard';
      }
    }
  };
  for (let i = 0; running(); i++) {
    const job = { wallet, job: newId('job') };
    if (
      ['charged', 'duplicate'].includes(
        await heard(() => recoup.jobs.submit({ ...job, queue: i % 3 ? null : queue, price: 3 })),
      )
    )
      told.charged.push(job.job);
    if (i % 3 === 0) {
      await heard(async () => ({
        outcome: 'leased',
        jobs: await recoup.jobs.lease({ queue, count: 2, requestId: job.job }),
      }));
    } else {
      if (['refunded', 'duplicate'].includes(await heard(() => recoup.jobs.fail(job)))) told.refunded.push(job.job);
      if (['reclaimed', 'duplicate'].includes(await heard(() => recoup.jobs.succeed({ ...job, finalPrice: 2 }))))
        told.reclaimed.push(job.job);
    }
    const key = newId('key');
    if (['granted', 'duplicate'].includes(await heard(() => recoup.wallets.grant({ wallet, key, amount: 5 }))))
      told.granted.push(key);
  }
}

const nothing = (): Told => ({ charged: [], refunded: [], reclaimed: [], granted: [] });

/** Everything that somebody was told is in the ledger. */
async function stands(
  query: (sql: string, values: unknown[]) => Promise<Record<string, unknown>[]>,
  told: Told,
): Promise<void> {
  const missing = async (type: string, column: string, names: string[]) =>
    (
      await query(
        `select n from unnest($1::text[]) n where not exists (select from recoup.entries where type = $2 and ${column} = n)`,
        [names, type],
      )
    ).map(({ n }) => n);
  expect(await missing('charge', 'job_id', told.charged)).toEqual([]);
  expect(await missing('refund', 'job_id', told.refunded)).toEqual([]);
  expect(await missing('reclaim', 'job_id', told.reclaimed)).toEqual([]);
  expect(await missing('grant', 'key', told.granted)).toEqual([]);
}

onEvery(
  'connections terminated again and again in the middle of every transition: flags, entries and balances agree',
  async (s: Stage) => {
    const told = nothing();
    let running = true;
    const replicas = await Promise.all(times(3, () => s.replica({ applicationName: 'victim' })));
    const wallets = await Promise.all(times(3, () => s.wallet(1_000_000)));
    const lives = times(9, (i) => live(replicas[i % 3]!, wallets[i % 3]!, newId('queue'), told, () => running));
    let killed = 0;
    while (killed < 60) {
      const victims =
        await s.db.query(`select pid from pg_stat_activity where application_name = 'victim' and state <> 'idle'
      and datname = current_database() order by random() limit 2`);
      for (const { pid } of victims) await s.db.query('select pg_terminate_backend($1)', [pid]);
      killed += victims.length;
    }
    // Whatever was cut off was repeated until it was heard.
    await until(() => Math.min(...Object.values(told).map((names) => names.length)) > 10);
    running = false;
    await Promise.all(lives);
    await stands(s.db.query, told);
    await booksAreRight(s);
  },
);

async function queryOnce(url: string, sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql, values)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

test('PostgreSQL killed under load, again and again: what was answered is there after its recovery, and nothing is half', async () => {
  const server = await RestartableServer.start(join(folder, 'killed'));
  servers.push(server);
  const { url } = server.proxy;
  const recoup = await open({ connection: url, migrate: true, sweep: false });
  await recoup.wallets.open({ wallet: 'w', customer: 'c' });
  await recoup.wallets.grant({ wallet: 'w', key: 'start', amount: 1_000_000 });
  const told = nothing();
  for (let round = 1; round <= 2; round++) {
    let running = true;
    const lives = times(8, () => live(recoup, 'w', newId('queue'), told, () => running));
    const wanted = told.granted.length + 30;
    await until(() => told.granted.length >= wanted);
    await server.kill();
    await server.startAgain();
    running = false;
    await Promise.all(lives);
    await stands((sql, values) => queryOnce(url, sql, values), told);
    const verified = await recoup.verify();
    expect(verified.problems).toEqual([]);
    expect(verified.entries).toBeGreaterThan(told.granted.length);
  }
  await recoup.close();
});

test('PostgreSQL restarts in the middle of a job: the worker goes on, its success counts, an idle one leases again', async () => {
  const server = await RestartableServer.start(join(folder, 'restarted'));
  servers.push(server);
  const recoup = await open({ connection: server.proxy.url, migrate: true, pollMs: 50, onError: () => {} });
  await recoup.wallets.open({ wallet: 'restart', customer: 'c' });
  await recoup.wallets.grant({ wallet: 'restart', key: 'start', amount: 100 });
  const submit = (job: string) => recoup.jobs.submit({ wallet: 'restart', job, queue: 'restart', price: 10 });
  let finish = (_: unknown) => {};
  const result = new Promise((done) => {
    finish = done;
  });
  const begun: string[] = [];
  const worker = recoup.work('restart', ({ id }) => {
    begun.push(id);
    return id === 'long' ? result : Promise.resolve('short');
  });
  await submit('long');
  await until(() => begun.includes('long'));
  await server.stop();
  finish('after all');
  await server.startAgain();
  const state = async (job: string) => (await recoup.jobs.get({ wallet: 'restart', job })).job;
  await until(async () => (await state('long').catch(() => undefined))?.state === 'succeeded');
  expect(await state('long')).toMatchObject({ attempt: 1, failures: 0, succeededAttempt: 1 });
  await submit('short');
  await until(async () => (await state('short')).state === 'succeeded');
  await worker.stop();
  expect((await recoup.verify()).problems).toEqual([]);
  await recoup.close();
});
