// Behind a transaction-mode pooler: no named statement, no session state, no LISTEN; everything else as ever.
import pg from 'pg';
import postgres from 'postgres';
import { open, type Recoup, type Work } from 'recoup';
import { forPostgresJs } from 'recoup/adapters';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasPgBouncer, startPgBouncer } from './support/pgbouncer.ts';
import { type Pooler, startTransactionPooler } from './support/transaction-pooler.ts';
import { jobFor, walletIn } from './support/wallets.ts';

const CONNECTIONS = 4;
let number = 0;

// Skipped, and counted as that, where only the stand-in can be tried.
test.skipIf(!hasPgBouncer)('PgBouncer is installed here', () => {});

const poolers = [
  { kind: 'stand-in', start: startTransactionPooler },
  ...(hasPgBouncer ? [{ kind: 'PgBouncer', start: startPgBouncer }] : []),
];
const places = inject('servers').flatMap((server) => poolers.map((pooler) => ({ ...server, ...pooler })));

describe.each(places)('$name, $kind', ({ url, start }) => {
  let database: TestDatabase;
  let pooler: Pooler;
  let recoup: Recoup;

  beforeAll(async () => {
    database = await testDatabase(url);
    pooler = await start(database.url, CONNECTIONS);
    recoup = await open({ connection: pooler.url, pooler: true, sweep: false, pollMs: 20, lockTimeoutMs: 200 });
  });
  afterAll(async () => {
    await recoup.close();
    await pooler.stop();
    await database.drop();
  });

  const newWallet = () => walletIn(recoup);

  test('the pooler is one: it keeps no session for a client, and refuses startup options', async () => {
    const client = new pg.Client({ connectionString: pooler.url });
    await client.connect();
    const backend = async () => (await client.query('select pg_backend_pid() as pid')).rows[0].pid;
    await client.query('begin');
    const inOne = [await backend(), await backend()];
    expect(inOne[0]).toBe(inOne[1]);
    await client.query('commit');
    // Takes the connection that was given back, or another that was free: the client has no claim on it.
    const other = new pg.Client({ connectionString: pooler.url });
    await other.connect();
    await other.query('begin');
    expect(await backend()).not.toBe(inOne[0]);
    await other.end();
    await client.end();
    const refused = open({ connection: pooler.url });
    await expect(refused).rejects.toMatchObject({ code: 'database_refused', retryable: false });
    await expect(refused).rejects.toThrow('pooler: true');
  });

  test('migrate: many at once from nothing, and the winner is found by the others', async () => {
    const options = { connection: pooler.url, pooler: true, migrate: true, sweep: false, schema: `fresh_${number++}` };
    const handles = await Promise.all(Array.from({ length: 6 }, () => open(options)));
    const [first] = handles;
    await first!.wallets.open({ wallet: 'w', customer: 'c' });
    expect((await handles[5]!.wallets.balance('w')).booked).toBe(0);
    expect((await first!.verify()).problems).toEqual([]);
    await Promise.all(handles.map((handle) => handle.close()));
  });

  test('submits at once, every one of them twice: each charged once', async () => {
    const wallets = await Promise.all(Array.from({ length: 10 }, newWallet));
    const inputs = wallets.flatMap((wallet) =>
      ['a', 'b', 'c', 'd', 'a', 'b', 'c', 'd'].map((id) => jobFor(wallet, id)),
    );
    const answers = await Promise.all(inputs.map((input) => recoup.jobs.submit(input)));
    const charged = answers.filter((answer) => answer.outcome === 'charged');
    expect(charged).toHaveLength(40);
    for (const wallet of wallets)
      expect(await recoup.wallets.balance(wallet)).toMatchObject({ booked: 60, lastSeq: 5 });
  });

  test('lease, extend, hand over, fail, succeed, settle, redrive', async () => {
    const wallet = await newWallet();
    const queue = `life-${number}`;
    const one = { wallet, job: 'j1' };
    await recoup.queues.configure(queue, { backoffBaseMs: 0, backoffMaxMs: 0 });
    await recoup.jobs.submit({ ...jobFor(wallet), queue });
    expect(await recoup.jobs.lease({ queue, requestId: `${queue}-1` })).toHaveLength(1);
    expect(await recoup.jobs.lease({ queue, requestId: `${queue}-1` })).toHaveLength(1);
    expect(await recoup.jobs.extend({ ...one, attempt: 1 })).toMatchObject({ outcome: 'extended' });
    expect(await recoup.jobs.handOver({ ...one, attempt: 1 })).toMatchObject({ outcome: 'handed_over' });
    const dead = await recoup.jobs.fail({ ...one, attempt: 1, verdict: 'definitive', retryable: false });
    expect(dead).toMatchObject({ outcome: 'dead', refunded: true });
    expect(await recoup.jobs.deadLetters.redrive(one)).toMatchObject({ outcome: 'redriven' });
    expect(await recoup.jobs.succeed({ ...one, attempt: 1 })).toMatchObject({ outcome: 'reclaimed' });
    expect(await recoup.jobs.settle({ ...one, finalPrice: 7 })).toMatchObject({ outcome: 'settled' });
    expect((await recoup.wallets.balance(wallet)).booked).toBe(93);
    // A transaction open in any database of the server holds the feed back: other tests have some.
    const fed = async () => {
      const { events } = await recoup.feed.read(null, 5000);
      return events.filter((event) => event.kind === 'entry' && event.wallet === wallet).length;
    };
    await expect.poll(fed, { timeout: 30_000 }).toBe(5);
  });

  test('workers find what another process submitted, by their poll; nobody listens or notifies', async () => {
    const wallet = await newWallet();
    const queue = `work-${number}`;
    const elsewhere = await open({ connection: pooler.url, pooler: true, sweep: false });
    const worked = new Promise<Work>((done) => {
      recoup.work(queue, async (work) => {
        done(work);
        return { by: work.attempt };
      });
    });
    await elsewhere.jobs.submit({ ...jobFor(wallet), queue });
    elsewhere.wake(queue);
    expect(await worked).toMatchObject({ wallet, id: 'j1', attempt: 1 });
    await elsewhere.close();
    const told = `select query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and query ~* '^ *(listen|notify)|pg_notify'`;
    expect(await database.query(told)).toEqual([]);
  });

  test('sweeps lapse what is due', async () => {
    const wallet = await newWallet();
    const queue = `sweep-${number}`;
    await recoup.jobs.submit({ ...jobFor(wallet), queue });
    await recoup.jobs.lease({ queue });
    await database.advance(3_600_000);
    expect((await recoup.sweep()).lapsed).toBeGreaterThan(0);
    expect(await recoup.jobs.get({ wallet, job: 'j1' })).toMatchObject({ job: { state: 'queued', failures: 1 } });
    expect((await recoup.wallets.balance(wallet)).booked).toBe(100);
  });

  test('transaction(fn), and using() in the host’s transactions through the pooler', async () => {
    const wallet = await newWallet();
    await recoup.transaction((inside) => inside.jobs.submit(jobFor(wallet, 'own')));
    const client = new pg.Client({ connectionString: pooler.url });
    await client.connect();
    await client.query('begin');
    await recoup.using(client).jobs.submit(jobFor(wallet, 'pg'));
    await client.query('commit');
    await client.end();
    const sql = postgres(pooler.url, { max: 2, prepare: false, fetch_types: false });
    await sql.begin((tx) => recoup.using(forPostgresJs(tx)).jobs.submit(jobFor(wallet, 'postgres.js')));
    await sql.end();
    expect(await recoup.wallets.balance(wallet)).toMatchObject({ booked: 70, lastSeq: 4 });
  });

  test('a held wallet stalls only itself, and is wallet_busy after lockTimeoutMs', async () => {
    const [held, free] = [await newWallet(), await newWallet()];
    const slow = new pg.Client({ connectionString: pooler.url });
    await slow.connect();
    await slow.query('begin');
    await recoup.using(slow).jobs.submit(jobFor(held, 'slow'));
    const answers = await recoup.jobs.submitMany([jobFor(held), jobFor(free)]);
    expect(answers).toMatchObject([{ code: 'wallet_busy' }, { outcome: 'charged' }]);
    await slow.query('commit');
    await slow.end();
    expect(await recoup.jobs.submit(jobFor(held))).toMatchObject({ outcome: 'charged', balance: 80 });
  });

  test('no connection of the server keeps anything of a client', async () => {
    const clients = await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        const client = new pg.Client({ connectionString: pooler.url });
        await client.connect();
        await client.query('begin');
        return client;
      }),
    );
    for (const client of clients) {
      const left = await client.query(`select (select count(*)::int from pg_prepared_statements) as prepared,
        (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
        current_setting('lock_timeout') as lock_timeout, current_setting('enable_seqscan') as seqscan`);
      expect(left.rows).toEqual([{ prepared: 0, locks: 0, lock_timeout: '0', seqscan: 'on' }]);
    }
    await Promise.all(clients.map((client) => client.end()));
  });

  test('the books are right', async () => {
    expect((await recoup.verify({ testClock: true })).problems).toEqual([]);
  });
});
