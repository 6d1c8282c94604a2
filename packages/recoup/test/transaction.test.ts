// transaction(fn) and wake(): runs again what lost a race, wakes workers after the commit, leaves the caller's errors alone.
import pg from 'pg';
import { open, type Recoup, Refusal, TransactionAborted, TransactionConflict, type Work } from 'recoup';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { jobFor, walletIn } from './support/wallets.ts';

/** Nothing is found by polling within a test: what starts was woken. */
const NEVER = 3_600_000;
let number = 0;

describe.each(inject('servers'))('$name', ({ url }) => {
  let database: TestDatabase;
  let recoup: Recoup;

  beforeAll(async () => {
    database = await testDatabase(url);
    await database.query('create table orders (id text primary key)');
    recoup = await open({ connection: database.url, sweep: false, pollMs: NEVER, lockTimeoutMs: 100 });
  });
  afterAll(async () => {
    await recoup.close();
    await database.drop();
  });

  const newWallet = () => walletIn(recoup);
  const orders = (id: string) => database.query('select id from orders where id = $1', [id]);

  /** A worker on a queue of its own, asleep, and the next job that reaches it. */
  async function sleepingWorker(of: Recoup = recoup): Promise<{ queue: string; worked: Promise<Work> }> {
    number += 1;
    const queue = `queue-${number}`;
    const wallet = await newWallet();
    let arrived: (work: Work) => void = () => {};
    of.work(queue, async (work) => arrived(work));
    const next = () =>
      new Promise<Work>((done) => {
        arrived = done;
      });
    // It sleeps for sure when it has had a job that a wake brought it, and finds no further one.
    const first = next();
    await of.jobs.submit({ wallet, job: 'first', queue, price: 0 });
    await first;
    return { queue, worked: next() };
  }

  test('the caller’s statements and Recoup’s commit together, or roll back together', async () => {
    const wallet = await newWallet();
    const answer = await recoup.transaction(async (inside, client) => {
      await client.query('insert into orders values ($1)', [wallet]);
      return inside.jobs.submit(jobFor(wallet));
    });
    expect(answer).toMatchObject({ outcome: 'charged', balance: 90 });
    expect(await orders(wallet)).toHaveLength(1);
    const other = await newWallet();
    const refused = recoup.transaction(async (inside, client) => {
      await client.query('insert into orders values ($1)', [other]);
      await inside.jobs.submit({ ...jobFor(other), price: 101 });
    });
    await expect(refused).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect(await orders(other)).toEqual([]);
    expect((await recoup.wallets.balance(other)).booked).toBe(100);
  });

  test('it is run again from the start when it lost a race, and what it did before is undone', async () => {
    const wallet = await newWallet();
    let runs = 0;
    const answer = await recoup.transaction(async (inside, client) => {
      runs += 1;
      await client.query('set transaction isolation level repeatable read');
      await client.query('insert into orders values ($1)', [wallet]);
      if (runs <= 2) await recoup.jobs.submit({ ...jobFor(wallet, `elsewhere-${runs}`), price: 1 });
      return inside.jobs.submit(jobFor(wallet));
    });
    expect(runs).toBe(3);
    expect(answer).toMatchObject({ outcome: 'charged', seq: 4, balance: 88 });
    expect(await orders(wallet)).toHaveLength(1);
  });

  test('a race that the caller’s own statement lost is run again too; after five it is a TransactionConflict', async () => {
    const wallet = await newWallet();
    await database.query('insert into orders values ($1)', [wallet]);
    let runs = 0;
    const losing = recoup.transaction(async (_inside, client) => {
      runs += 1;
      await client.query('set transaction isolation level repeatable read');
      await client.query('select from orders');
      await database.query('update orders set id = id where id = $1', [wallet]);
      await client.query('update orders set id = id where id = $1', [wallet]);
    });
    await expect(losing).rejects.toBeInstanceOf(TransactionConflict);
    expect(runs).toBe(5);
  });

  test('serializable: a conflict that shows only at COMMIT is run again as well', async () => {
    const [a, b] = [await newWallet(), await newWallet()];
    let arrived = 0;
    let bothWrote!: () => void;
    const both = new Promise<void>((done) => {
      bothWrote = done;
    });
    /** Charges one wallet on the strength of the other's balance: two of these crosswise cannot both be right. */
    const spend = (read: string, write: string) =>
      recoup.transaction(async (inside, client) => {
        await client.query('set transaction isolation level serializable');
        const { booked } = await inside.wallets.balance(read);
        const answer = await inside.jobs.submit({ ...jobFor(write), price: booked });
        arrived += 1;
        if (arrived === 2) bothWrote();
        await both;
        return answer.balance;
      });
    expect((await Promise.all([spend(a, b), spend(b, a)])).sort((x, y) => x - y)).toEqual([0, 100]);
    expect(arrived).toBe(3);
  });

  test('a conflict that fn swallows does not pass for a commit', async () => {
    const wallet = await newWallet();
    const swallowed = recoup.transaction(async (inside, client) => {
      await client.query('insert into orders values ($1)', [wallet]);
      await client.query('select 1 / 0').catch(() => {});
      await inside.jobs.submit(jobFor(wallet)).catch(() => {});
      return 'done';
    });
    await expect(swallowed).rejects.toBeInstanceOf(TransactionAborted);
    expect(await orders(wallet)).toEqual([]);
  });

  test.each([
    ['an error of its own', () => new Error('mine')],
    ['its own duplicate key', (client: pg.PoolClient) => client.query(`insert into orders values ('same'), ('same')`)],
    ['its own missing table', (client: pg.PoolClient) => client.query('select from no_such_table')],
    ['its own call that nobody answered', () => Object.assign(new Error('fetch failed'), { code: 'ECONNREFUSED' })],
    ['its own time-out', () => new Error('timeout exceeded')],
  ])('what the caller’s code throws stays what it is: %s', async (_name, failing) => {
    let thrown: unknown;
    let runs = 0;
    const work = recoup.transaction(async (_inside, client) => {
      runs += 1;
      try {
        const made = await failing(client);
        throw made;
      } catch (error) {
        thrown = error;
        throw error;
      }
    });
    await expect(work).rejects.toSatisfy((error) => error === thrown && !(error instanceof Refusal));
    expect(runs).toBe(1);
  });

  test('transaction(fn) wakes the workers after its commit', async () => {
    const wallet = await newWallet();
    const { queue, worked } = await sleepingWorker();
    await recoup.transaction((inside) => inside.jobs.submit({ ...jobFor(wallet), queue }));
    expect(await worked).toMatchObject({ wallet, id: 'j1', attempt: 1 });
  });

  test('after a commit of the caller’s own, wake(queue) does', async () => {
    const wallet = await newWallet();
    const { queue, worked } = await sleepingWorker();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('begin');
    await recoup.using(client).jobs.submit({ ...jobFor(wallet), queue });
    await client.query('commit');
    await client.end();
    recoup.wake(queue);
    expect(await worked).toMatchObject({ wallet, id: 'j1' });
  });

  test('wake(queue) reaches the workers of other processes', async () => {
    const wallet = await newWallet();
    const elsewhere = await open({ connection: database.url, sweep: false, pollMs: NEVER });
    const { queue, worked } = await sleepingWorker(elsewhere);
    await recoup.transaction((inside) => inside.jobs.submit({ ...jobFor(wallet), queue }));
    expect(await worked).toMatchObject({ wallet, id: 'j1' });
    await elsewhere.close();
  });

  test('without a wake the poll finds the job', async () => {
    const wallet = await newWallet();
    const polling = await open({ connection: database.url, sweep: false, pollMs: 20 });
    const { queue, worked } = await sleepingWorker(polling);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await recoup.using(client).jobs.submit({ ...jobFor(wallet), queue });
    await client.end();
    expect(await worked).toMatchObject({ wallet, id: 'j1' });
    await polling.close();
  });

  test('the client of transaction(fn) can be given to using(): it is the same transaction', async () => {
    const wallet = await newWallet();
    const balances = await recoup.transaction(async (inside, client) => {
      await inside.jobs.submit(jobFor(wallet, 'one'));
      await recoup.using(client).jobs.submit(jobFor(wallet, 'two'));
      return [(await inside.wallets.balance(wallet)).booked, (await recoup.wallets.balance(wallet)).booked];
    });
    expect(balances).toEqual([80, 100]);
    expect((await recoup.wallets.balance(wallet)).booked).toBe(80);
  });

  test('the books are right', async () => {
    expect((await recoup.verify()).problems).toEqual([]);
  });
});
