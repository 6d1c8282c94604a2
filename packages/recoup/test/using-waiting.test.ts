// A caller that holds a wallet in its own transaction: whom it stalls, and what those who wait for it are told.
import pg from 'pg';
import { open, type Recoup } from 'recoup';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { jobFor, walletIn } from './support/wallets.ts';

let number = 0;

describe.each(inject('servers'))('$name', ({ url }) => {
  let database: TestDatabase;
  let recoup: Recoup;
  let slow: pg.Client;

  beforeAll(async () => {
    database = await testDatabase(url);
    recoup = await open({ connection: database.url, sweep: false, lockTimeoutMs: 60_000 });
    slow = new pg.Client({ connectionString: database.url });
    await slow.connect();
  });
  afterEach(() => slow.query('rollback'));
  afterAll(async () => {
    await slow.end();
    await recoup.close();
    await database.drop();
  });

  const newWallet = () => walletIn(recoup);

  /** Begins the slow caller's transaction, which charges a wallet and then stays open. */
  async function chargeAndLinger(wallet: string): Promise<void> {
    await slow.query('begin');
    await recoup.using(slow).jobs.submit(jobFor(wallet, 'slow'));
  }

  test('submits of other wallets go through meanwhile, in the same batch and later; its own is answered when it is free', async () => {
    const held = await newWallet();
    const free = await Promise.all(Array.from({ length: 20 }, newWallet));
    await chargeAndLinger(held);
    let answered = false;
    const waiting = recoup.jobs.submit(jobFor(held)).then((answer) => {
      answered = true;
      return answer;
    });
    for (const id of ['a', 'b', 'c']) {
      const answers = await Promise.all(free.map((wallet) => recoup.jobs.submit(jobFor(wallet, id))));
      expect(answers.every((answer) => answer.outcome === 'charged')).toBe(true);
    }
    expect(answered).toBe(false);
    await slow.query('commit');
    expect(await waiting).toMatchObject({ outcome: 'charged', seq: 3, balance: 80 });
  });

  test('every signal for other wallets goes through meanwhile', async () => {
    const held = await newWallet();
    const free = await newWallet();
    const external = { wallet: free, job: 'j1' };
    await recoup.jobs.submit({ ...external, queue: null, price: 1 });
    await recoup.jobs.submit({ wallet: held, job: 'j1', queue: null, price: 1 });
    await chargeAndLinger(held);
    const { jobs, wallets } = recoup;
    const mine = { wallet: held, job: 'j1' };
    const waiting = Promise.all([
      jobs.fail(mine),
      wallets.grant({ wallet: held, key: 'k', amount: 1 }),
      wallets.adjust({ wallet: held, key: 'a', amount: 1 }),
    ]);
    expect(await jobs.fail(external)).toMatchObject({ outcome: 'refunded' });
    expect(await jobs.succeed(external)).toMatchObject({ outcome: 'reclaimed' });
    expect(await jobs.settle({ ...external, finalPrice: 0 })).toMatchObject({ outcome: 'settled' });
    expect(await wallets.grant({ wallet: free, key: 'k', amount: 1 })).toMatchObject({ outcome: 'granted' });
    expect(await wallets.adjust({ wallet: free, key: 'a', amount: 1 })).toMatchObject({ outcome: 'adjusted' });
    expect(await wallets.change(free, { overdraftLimit: 1 })).toEqual({ outcome: 'changed' });
    await slow.query('rollback');
    expect((await waiting).map((answer) => answer.outcome)).toEqual(['refunded', 'granted', 'adjusted']);
  });

  test('opening other wallets goes through while a caller has one opened in its transaction', async () => {
    const open = (wallet: string) => recoup.wallets.open({ wallet, customer: 'customer' });
    number += 1;
    await slow.query('begin');
    await recoup.using(slow).wallets.open({ wallet: `held-${number}`, customer: 'customer' });
    const waiting = open(`held-${number}`);
    const others = await Promise.all(Array.from({ length: 20 }, (_, i) => open(`free-${number}-${i}`)));
    expect(others.every((answer) => answer.outcome === 'opened')).toBe(true);
    await slow.query('commit');
    expect(await waiting).toEqual({ outcome: 'duplicate' });
  });

  test('who waits longer than lockTimeoutMs is told wallet_busy, and nothing was changed', async () => {
    const held = await newWallet();
    const free = await newWallet();
    const impatient = await open({ connection: database.url, sweep: false, lockTimeoutMs: 50 });
    await chargeAndLinger(held);
    const refused = impatient.jobs.submit(jobFor(held));
    const [answer] = await Promise.all([
      impatient.jobs.submit(jobFor(free)),
      expect(refused).rejects.toMatchObject({ code: 'wallet_busy', retryable: true, status: 503 }),
    ]);
    expect(answer).toMatchObject({ outcome: 'charged' });
    await slow.query('commit');
    expect(await impatient.jobs.submit(jobFor(held))).toMatchObject({ outcome: 'charged', seq: 3 });
    await impatient.close();
  });

  test('a batch with a held wallet answers wallet_busy for its items and the rest of the others', async () => {
    const held = await newWallet();
    const free = await newWallet();
    const impatient = await open({ connection: database.url, sweep: false, lockTimeoutMs: 50 });
    await chargeAndLinger(held);
    const answers = await impatient.jobs.submitMany([
      jobFor(held, 'a'),
      jobFor(free, 'a'),
      jobFor(held, 'b'),
      jobFor(free, 'b'),
    ]);
    const said = answers.map((answer) => ('outcome' in answer ? answer.outcome : answer.code));
    expect(said).toEqual(['wallet_busy', 'charged', 'wallet_busy', 'charged']);
    await impatient.close();
  });

  test('inside one’s own transaction the handle itself, on its own connection, waits for one’s own lock: wallet_busy', async () => {
    const wallet = await newWallet();
    const impatient = await open({ connection: database.url, sweep: false, lockTimeoutMs: 50 });
    await chargeAndLinger(wallet);
    await expect(impatient.jobs.submit(jobFor(wallet))).rejects.toMatchObject({ code: 'wallet_busy' });
    expect(await impatient.using(slow).jobs.submit(jobFor(wallet))).toMatchObject({ outcome: 'charged', balance: 80 });
    await impatient.close();
  });

  test('transactions that take several wallets by submitMany never wait for each other in a circle', async () => {
    const wallets = await Promise.all(Array.from({ length: 6 }, newWallet));
    const pool = new pg.Pool({ connectionString: database.url, max: 8 });
    const place = async (round: number) => {
      // Each in another order: backwards, or started elsewhere.
      const turned = [...wallets.slice(round % 6), ...wallets.slice(0, round % 6)];
      const order = round % 2 === 0 ? turned : turned.reverse();
      const client = await pool.connect();
      await client.query('begin');
      const answers = await recoup
        .using(client)
        .jobs.submitMany(order.map((wallet) => jobFor(wallet, `round-${round}`)));
      await client.query('commit');
      client.release();
      return answers;
    };
    const answers = (await Promise.all(Array.from({ length: 10 }, (_, round) => place(round)))).flat();
    expect(answers.every((answer) => 'outcome' in answer && answer.outcome === 'charged')).toBe(true);
    for (const wallet of wallets) expect((await recoup.wallets.balance(wallet)).booked).toBe(0);
    await pool.end();
  });

  test('leases pass over a job that a caller holds, and take it when it is free', async () => {
    const wallet = await newWallet();
    const queue = `leases-${number}`;
    await recoup.jobs.submit({ wallet, job: 'held', queue, price: 1 });
    await recoup.jobs.submit({ wallet, job: 'free', queue, price: 1 });
    await slow.query('begin');
    await slow.query('select from recoup.jobs where wallet_id = $1 and id = $2 for update', [wallet, 'held']);
    expect((await recoup.jobs.lease({ queue, count: 5 })).map((leased) => leased.job.id)).toEqual(['free']);
    await slow.query('commit');
    expect((await recoup.jobs.lease({ queue, count: 5 })).map((leased) => leased.job.id)).toEqual(['held']);
  });

  test('the books are right', async () => {
    expect((await recoup.verify()).problems).toEqual([]);
  });
});
