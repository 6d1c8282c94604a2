// using(): isolation levels, locks, deadlocks, aborted and read-only transactions, savepoints; through every client.
import { open, type Recoup, TransactionAborted, TransactionConflict } from 'recoup';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Host, hostClients } from './support/host-clients.ts';
import { jobFor, walletIn } from './support/wallets.ts';

describe.each(inject('servers'))('$name', ({ url }) => {
  let database: TestDatabase;
  let recoup: Recoup;

  beforeAll(async () => {
    database = await testDatabase(url);
    await database.query('create table orders (id text primary key)');
    recoup = await open({ connection: database.url, sweep: false });
  });
  afterAll(async () => {
    await recoup.close();
    await database.drop();
  });

  const newWallet = () => walletIn(recoup);
  const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  /** Holds a wallet locked in a transaction of somebody else until `release` is called. */
  async function hold(wallet: string): Promise<{ release(): Promise<void> }> {
    let release!: () => void;
    const held = new Promise<void>((done) => {
      release = done;
    });
    let locked!: () => void;
    const isLocked = new Promise<void>((done) => {
      locked = done;
    });
    const over = recoup.transaction(async (inside) => {
      await inside.jobs.submit(jobFor(wallet, 'holder'));
      locked();
      await held;
    });
    await isLocked;
    return {
      release: () => {
        release();
        return over;
      },
    };
  }

  describe.each(hostClients)('$name', ({ connect }) => {
    let host: Host;
    beforeAll(() => {
      host = connect(database.url, recoup);
    });
    afterAll(() => host.close());

    test.each(['repeatable read', 'serializable'] as const)(
      '%s: a wallet that moved since the snapshot is a TransactionConflict, and the whole transaction succeeds when run again',
      async (isolation) => {
        const wallet = await newWallet();
        const errors: unknown[] = [];
        const attempt = () =>
          host.transaction(async ({ recoup: inside, run }) => {
            await run('insert into orders values ($1)', [wallet]);
            if (errors.length === 0) await recoup.jobs.submit(jobFor(wallet, 'elsewhere'));
            return inside.jobs.submit(jobFor(wallet));
          }, isolation);
        const first = await thrownBy(attempt());
        errors.push(first);
        expect(first).toBeInstanceOf(TransactionConflict);
        expect(first).toMatchObject({ code: 'transaction_conflict', retryable: true, details: { sqlstate: '40001' } });
        expect((first as Error).cause).toBeInstanceOf(Error);
        expect(await database.query('select id from orders where id = $1', [wallet])).toEqual([]);
        expect(await attempt()).toMatchObject({ outcome: 'charged', balance: 80, seq: 3 });
        expect(await database.query('select id from orders where id = $1', [wallet])).toHaveLength(1);
      },
    );

    test('read committed: a wallet that moved meanwhile is no conflict', async () => {
      const wallet = await newWallet();
      const answer = await host.transaction(async ({ recoup: inside, run }) => {
        await run('insert into orders values ($1)', [wallet]);
        await recoup.jobs.submit(jobFor(wallet, 'elsewhere'));
        return inside.jobs.submit(jobFor(wallet));
      });
      expect(answer).toMatchObject({ outcome: 'charged', balance: 80, seq: 3 });
    });

    test('in a transaction that a statement of the caller has aborted: TransactionAborted', async () => {
      const wallet = await newWallet();
      let answer: unknown;
      await thrownBy(
        host.transaction(async ({ recoup: inside, run }) => {
          await thrownBy(run('select 1 / 0'));
          answer = await thrownBy(inside.jobs.submit(jobFor(wallet)));
          throw new Error('give up');
        }),
      );
      expect(answer).toBeInstanceOf(TransactionAborted);
      expect(answer).toMatchObject({ code: 'transaction_aborted', retryable: false });
      expect((await recoup.wallets.balance(wallet)).booked).toBe(100);
    });

    test('a wallet held past the lock_timeout of the session is a TransactionConflict; a savepoint saves the rest', async () => {
      const wallet = await newWallet();
      const free = await newWallet();
      const holder = await hold(wallet);
      let conflict: unknown;
      await host
        .transaction(async ({ recoup: inside, run }) => {
          await inside.jobs.submit(jobFor(free));
          await run(`set local lock_timeout = '50ms'`);
          await run('savepoint before');
          conflict = await thrownBy(inside.jobs.submit(jobFor(wallet)));
          await run('rollback to savepoint before');
        })
        .catch((error: unknown) => {
          // postgres.js rejects a transaction in which any query failed, handled or not.
          expect(error).toMatchObject({ code: '55P03' });
        });
      await holder.release();
      expect(conflict).toBeInstanceOf(TransactionConflict);
      expect(conflict).toMatchObject({ details: { sqlstate: '55P03' } });
      expect((await recoup.wallets.balance(wallet)).booked).toBe(90);
    });

    test('of two transactions in a deadlock one gets a TransactionConflict and the other commits', async () => {
      const [a, b] = [await newWallet(), await newWallet()];
      let arrived = 0;
      let bothArrived!: () => void;
      const both = new Promise<void>((done) => {
        bothArrived = done;
      });
      const crossing = (first: string, second: string) =>
        host.transaction(async ({ recoup: inside, run }) => {
          await run(`set local deadlock_timeout = '20ms'`);
          await inside.jobs.submit(jobFor(first, `${first}-first`));
          arrived += 1;
          if (arrived === 2) bothArrived();
          await both;
          await inside.jobs.submit(jobFor(second, `${first}-second`));
        });
      const ended = await Promise.all([thrownBy(crossing(a, b)), thrownBy(crossing(b, a))]);
      const lost = ended.filter((error) => error !== undefined);
      expect(lost).toHaveLength(1);
      expect(lost[0]).toBeInstanceOf(TransactionConflict);
      expect((lost[0] as TransactionConflict).details.sqlstate).toMatch(/^40(P01|001)$/);
      const booked = [a, b].map(async (wallet) => (await recoup.wallets.balance(wallet)).booked);
      expect(await Promise.all(booked)).toEqual([90, 90]);
    });

    test('in a read-only transaction reads answer and writes are refused: database_read_only', async () => {
      const wallet = await newWallet();
      let refused: unknown;
      await thrownBy(
        host.transaction(async ({ recoup: inside, run }) => {
          await run('set transaction read only');
          expect((await inside.wallets.balance(wallet)).booked).toBe(100);
          refused = await thrownBy(inside.jobs.submit(jobFor(wallet)));
          throw new Error('give up');
        }),
      );
      expect(refused).toMatchObject({ code: 'database_read_only', details: { sqlstate: '25006' } });
    });

    test('what is rolled back to a savepoint of the caller was never there', async () => {
      const wallet = await newWallet();
      const answer = await host.transaction(async ({ recoup: inside, run }) => {
        await inside.jobs.submit(jobFor(wallet, 'kept'));
        await run('savepoint before');
        await inside.jobs.submit(jobFor(wallet));
        await inside.jobs.submit(jobFor(wallet, 'gone'));
        await run('rollback to savepoint before');
        expect((await inside.wallets.balance(wallet)).booked).toBe(90);
        return inside.jobs.submit(jobFor(wallet));
      });
      expect(answer).toMatchObject({ outcome: 'charged', seq: 3, balance: 80 });
      await expect(recoup.jobs.get({ wallet, job: 'gone' })).rejects.toMatchObject({ code: 'no_job' });
    });

    test('settings of the session that bend SQL do not bend the answers', async () => {
      const wallet = await newWallet();
      await host.transaction(async ({ recoup: inside, run }) => {
        await run(`set local search_path = ''`);
        await run(`set local standard_conforming_strings = off`);
        await run(`set local transform_null_equals = on`);
        await run(`set local intervalstyle = 'sql_standard'`);
        await run(`set local extra_float_digits = 0`);
        await run(`set local plan_cache_mode = 'force_custom_plan'`);
        await inside.jobs.submit({ ...jobFor(wallet), payload: { text: 'back\\slash' } });
        expect((await inside.jobs.get({ wallet, job: 'j1' })).payload).toEqual({ text: 'back\\slash' });
      });
      const { problems } = await recoup.verify();
      expect(problems).toEqual([]);
    });
  });
});
