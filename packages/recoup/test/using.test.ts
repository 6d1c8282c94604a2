// using(): through every client, what Recoup does commits and rolls back with the caller's own statements, value for value.
import { open, type Recoup, Refusal } from 'recoup';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Host, hostClients } from './support/host-clients.ts';
import { walletIn } from './support/wallets.ts';

const MAX = Number.MAX_SAFE_INTEGER;

describe.each(inject('servers'))('$name', ({ url }) => {
  let database: TestDatabase;
  let recoup: Recoup;

  beforeAll(async () => {
    database = await testDatabase(url);
    await database.query('create table orders (id text primary key, job text not null)');
    recoup = await open({ connection: database.url, sweep: false });
  });
  afterAll(async () => {
    await recoup.close();
    await database.drop();
  });

  const orders = (id: string) => database.query('select job from orders where id = $1', [id]);

  const newWallet = (amount?: number) => walletIn(recoup, amount);

  describe.each(hostClients)('$name', ({ connect }) => {
    let host: Host;
    beforeAll(() => {
      host = connect(database.url, recoup);
    });
    afterAll(() => host.close());

    const order = 'insert into orders (id, job) values ($1, $2)';

    test('the order and the charge commit together', async () => {
      const wallet = await newWallet();
      const submitted = await host.transaction(async ({ recoup: inside, run }) => {
        await run(order, [wallet, 'j1']);
        const answer = await inside.jobs.submit({ wallet, job: 'j1', queue: 'q', price: 30 });
        // Not seen from outside before the commit.
        expect((await recoup.wallets.balance(wallet)).booked).toBe(100);
        expect((await inside.wallets.balance(wallet)).booked).toBe(70);
        return answer;
      });
      expect(submitted).toMatchObject({ outcome: 'charged', seq: 2, balance: 70 });
      expect(await orders(wallet)).toEqual([{ job: 'j1' }]);
      expect(await recoup.wallets.balance(wallet)).toMatchObject({ booked: 70, held: 30, lastSeq: 2 });
      expect((await recoup.jobs.get({ wallet, job: 'j1' })).job).toEqual(submitted.job);
    });

    test('the order and the charge roll back together', async () => {
      const wallet = await newWallet();
      const changedMind = host.transaction(async ({ recoup: inside, run }) => {
        await run(order, [wallet, 'j1']);
        await inside.jobs.submit({ wallet, job: 'j1', queue: 'q', price: 30 });
        throw new Error('changed my mind');
      });
      await expect(changedMind).rejects.toThrow('changed my mind');
      expect(await orders(wallet)).toEqual([]);
      expect(await recoup.wallets.balance(wallet)).toMatchObject({ booked: 100, lastSeq: 1 });
      await expect(recoup.jobs.get({ wallet, job: 'j1' })).rejects.toMatchObject({ code: 'no_job' });
    });

    test('a refusal thrown inside rolls all of it back, what was charged before it too', async () => {
      const wallet = await newWallet();
      const tooMuch = host.transaction(async ({ recoup: inside, run }) => {
        await run(order, [wallet, 'j2']);
        await inside.jobs.submit({ wallet, job: 'j1', queue: 'q', price: 80 });
        await inside.jobs.submit({ wallet, job: 'j2', queue: 'q', price: 30 });
      });
      await expect(tooMuch).rejects.toMatchObject({
        code: 'insufficient_credits',
        details: { wallet, job: 'j2', balance: 20, price: 30, held: 80 },
      });
      expect(await orders(wallet)).toEqual([]);
      expect(await recoup.wallets.balance(wallet)).toMatchObject({ booked: 100, lastSeq: 1 });
    });

    test('a refusal that the caller catches leaves the transaction usable', async () => {
      const wallet = await newWallet();
      await host.transaction(async ({ recoup: inside, run }) => {
        const dear = inside.jobs.submit({ wallet, job: 'dear', queue: 'q', price: 1000 });
        await expect(dear).rejects.toMatchObject({ code: 'insufficient_credits' });
        await run(order, [wallet, 'cheap']);
        await inside.jobs.submit({ wallet, job: 'cheap', queue: 'q', price: 1 });
      });
      expect(await orders(wallet)).toEqual([{ job: 'cheap' }]);
      expect((await recoup.wallets.balance(wallet)).booked).toBe(99);
    });

    test('the same submit again is a duplicate and charges once; another price is a conflict', async () => {
      const wallet = await newWallet();
      const submit = (price: number) =>
        host.transaction(({ recoup: inside }) =>
          inside.jobs.submit({ wallet, job: 'j1', queue: 'q', price, payload: { a: [1] } }),
        );
      const first = await submit(30);
      expect(await submit(30)).toEqual({ ...first, outcome: 'duplicate' });
      await expect(submit(31)).rejects.toMatchObject({ code: 'conflict', details: { differs: ['price'] } });
      expect((await recoup.wallets.balance(wallet)).booked).toBe(70);
    });

    test('a batch answers item by item and commits as one', async () => {
      const wallet = await newWallet();
      const other = await newWallet();
      const item = (job: string, price: number, of = wallet) => ({ wallet: of, job, queue: 'q', price });
      const answers = await host.transaction(({ recoup: inside }) =>
        inside.jobs.submitMany([
          item('a', 60),
          item('b', 60),
          item('c', 40),
          item('a', 60),
          item('d', 5, other),
          item('e', 5, 'nobody'),
        ]),
      );
      const codes = answers.map((answer) => (answer instanceof Refusal ? answer.code : answer.outcome));
      expect(codes).toEqual(['charged', 'insufficient_credits', 'charged', 'duplicate', 'charged', 'no_wallet']);
      expect((await recoup.wallets.balance(wallet)).booked).toBe(0);
      expect((await recoup.wallets.balance(other)).booked).toBe(95);
    });

    test('payloads and results come back as they went, and stand in the database as JSON, not as text of JSON', async () => {
      const wallet = await newWallet();
      const values = [
        { nested: { list: [1, 2.5, -0.1, null, true], empty: {} }, some_key: 'x', otherKey: 'y' },
        ['array', ['in', 'array']],
        '{"looks":"like json"}',
        '$1 \\ \' " ` \n \u2028 😀 {x} %s ? ::text',
        MAX,
        false,
        { '': '', '"quoted"': "it's", text: '[1,2]' },
      ];
      for (const [index, value] of values.entries()) {
        const job = `j${index}`;
        const found = await host.transaction(async ({ recoup: inside }) => {
          await inside.jobs.submit({ wallet, job, queue: null, price: 1, payload: value });
          await inside.jobs.succeed({ wallet, job, result: value });
          return inside.jobs.get({ wallet, job });
        });
        expect(found).toMatchObject({ payload: value, result: value });
        expect(await recoup.jobs.get({ wallet, job })).toEqual(found);
      }
      const sql = `select jsonb_typeof(payload) as type, payload = result as same from recoup.jobs where wallet_id = $1 order by id`;
      const types = ['object', 'array', 'string', 'string', 'number', 'boolean', 'object'];
      expect(await database.query(sql, [wallet])).toEqual(types.map((type) => ({ type, same: true })));
    });

    test('amounts up to 2^53 − 1 are exact', async () => {
      const wallet = await newWallet(1);
      const balances = await host.transaction(async ({ recoup: inside }) => {
        const granted = await inside.wallets.grant({ wallet, key: 'big', amount: MAX - 1 });
        const { balance } = await inside.jobs.submit({ wallet, job: 'j1', queue: null, price: MAX });
        await inside.jobs.succeed({ wallet, job: 'j1', finalPrice: MAX - 1 });
        return [granted.amount, granted.balance, balance, (await inside.wallets.balance(wallet)).booked];
      });
      expect(balances).toEqual([MAX - 1, MAX, 0, 1]);
      const sql = 'select amount::text from recoup.entries where wallet_id = $1 order by seq';
      const amounts = (await database.query(sql, [wallet])).map((row) => row.amount);
      expect(amounts).toEqual(['1', '9007199254740990', '-9007199254740991', '1']);
      const over = host.transaction(({ recoup: inside }) => inside.wallets.grant({ wallet, key: 'over', amount: MAX }));
      await expect(over).rejects.toMatchObject({ code: 'balance_limit' });
    });

    test('instants are exact, whatever time zone and date style the session has', async () => {
      const wallet = await newWallet();
      const notBefore = new Date('2031-02-28T23:59:59.987Z');
      const { job, entries, at } = await host.transaction(async ({ recoup: inside, run }) => {
        await run(`set local timezone = 'Asia/Kathmandu'`);
        await run(`set local datestyle = 'German, DMY'`);
        const { job } = await inside.jobs.submit({ wallet, job: 'j1', queue: 'later', price: 1, notBefore });
        const [row] = await run('select (extract(epoch from now()) * 1000)::text as at');
        return { job, entries: await inside.wallets.entriesOf(wallet, 'j1'), at: Number(row?.at) };
      });
      expect(job.notBefore).toEqual(notBefore);
      // The clock in a transaction is its beginning.
      expect(job.submittedAt.getTime()).toBe(Math.floor(at));
      expect(entries[0]?.createdAt).toEqual(job.submittedAt);
      expect((await recoup.jobs.get({ wallet, job: 'j1' })).job).toEqual(job);
      const before = await recoup.wallets.balanceAt(wallet, new Date(job.submittedAt.getTime() - 60_000));
      expect(before.booked).toBe(0);
    });

    test('every signal answers inside a transaction as it does outside', async () => {
      const wallet = await newWallet();
      const queue = `signals of ${wallet}`;
      const outcomes = await host.transaction(async ({ recoup: inside }) => {
        const { jobs, wallets } = inside;
        await inside.queues.configure(queue, { backoffBaseMs: 0, backoffMaxMs: 0 });
        await jobs.submit({ wallet, job: 'j1', queue, price: 10 });
        const one = { wallet, job: 'j1' };
        const said: string[] = [];
        const say = (answer: { outcome: string }) => said.push(answer.outcome);
        expect(await jobs.lease({ queue, requestId: `${queue}-1` })).toMatchObject([{ job: { id: 'j1', attempt: 1 } }]);
        expect(await jobs.lease({ queue, requestId: `${queue}-1` })).toMatchObject([{ job: { id: 'j1', attempt: 1 } }]);
        say(await jobs.fail({ ...one, attempt: 1, reason: 'no answer' }));
        expect(await jobs.lease({ queue })).toMatchObject([{ earlier: { attempt: 1, verdict: 'presumed' } }]);
        say(await jobs.extend({ ...one, attempt: 2, upstreamRef: `ref-${queue}` }));
        say(await jobs.release({ ...one, attempt: 2 }));
        expect(await jobs.lease({ queue })).toHaveLength(1);
        say(await jobs.handOver({ ...one, attempt: 3, upstreamRef: `ref-${queue}` }));
        expect(await jobs.byUpstreamRef(`ref-${queue}`)).toMatchObject([{ attempt: 3 }, { attempt: 2 }]);
        say(await jobs.fail({ ...one, attempt: 3, verdict: 'definitive', retryable: false }));
        say(await jobs.deadLetters.redrive(one));
        say(await jobs.succeed({ ...one, attempt: 2, result: { url: 'x' } }));
        say(await jobs.settle({ ...one, finalPrice: 4 }));
        say(await jobs.cancel(one));
        say(await wallets.adjust({ wallet, key: 'sorry', amount: 3, job: 'j1', note: 'late' }));
        return said;
      });
      expect(outcomes).toEqual([
        ...['retrying', 'extended', 'released', 'handed_over', 'dead'],
        ...['redriven', 'reclaimed', 'settled', 'succeeded', 'adjusted'],
      ]);
      const types: string[] = [];
      for await (const entry of recoup.wallets.replay(wallet)) types.push(entry.type);
      expect(types).toEqual(['grant', 'charge', 'refund', 'reclaim', 'settle', 'adjust']);
      expect((await recoup.wallets.balance(wallet)).booked).toBe(100 - 4 + 3);
    });
  });

  test('the books are right', async () => {
    expect((await recoup.verify()).problems).toEqual([]);
  });
});
