// Traps: ways in which statements like these have gone wrong elsewhere, each built up on purpose.
import pg from 'pg';
import { expect } from 'vitest';
import { open } from '../src/index.ts';
import { testDatabase } from '../src/testing.ts';
import { answer, balance, entriesOf, ledger, tally, times } from './support/look.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';
import { untilWaiting } from './support/waiting.ts';

const { onEvery, onFirst } = staging();
const external = (wallet: string, job: string, price: number) => ({ wallet, job, queue: null, price });

/** A transaction that holds a wallet; `meanwhile` starts calls and waits until they stand behind it. */
async function behind<T>(
  s: Stage,
  wallet: string,
  held: (client: pg.Client) => Promise<unknown>,
  calls: () => Promise<T>[],
): Promise<T[]> {
  const holder = await s.client();
  await holder.query('begin');
  await holder.query('select from recoup.wallets where id = $1 for no key update', [wallet]);
  await held(holder);
  const waiting = calls();
  await untilWaiting(s.db, waiting.length);
  await holder.query('commit');
  await holder.end();
  return Promise.all(waiting);
}

/** Calls on clients of their own: each waits for itself. */
async function clients(s: Stage, count: number): Promise<pg.Client[]> {
  return Promise.all(times(count, () => s.client()));
}

onEvery(
  'a guard judged on what was read before the lock: of ten that waited for one wallet, only those fit that fit',
  async (s) => {
    const wallet = await s.wallet(100);
    const rivals = await clients(s, 10);
    const spend = (client: pg.Client) => s.recoup.using(client).jobs.submit(external(wallet, 'held', 60));
    const answers = await behind(s, wallet, spend, () =>
      rivals.map((client, i) => answer(s.recoup.using(client).jobs.submit(external(wallet, `rival ${i}`, 30)))),
    );
    expect(tally(answers)).toEqual({ charged: 1, insufficient_credits: 9 });
    expect(await balance(s, wallet)).toBe(10);
  },
);

onEvery(
  'a sum of entries as guard would overdraw, the newest entry as source of seq would fork: neither happens',
  async (s) => {
    const wallet = await s.wallet(50);
    const rivals = await clients(s, 10);
    const grant = (client: pg.Client) => s.recoup.using(client).wallets.grant({ wallet, key: 'held', amount: 5 });
    const answers = await behind(s, wallet, grant, () =>
      rivals.map((client, i) =>
        answer(
          i % 2 === 0
            ? s.recoup.using(client).jobs.submit(external(wallet, `rival ${i}`, 12))
            : s.recoup.using(client).wallets.adjust({ wallet, key: `${i}`, amount: -1 }),
        ),
      ),
    );
    expect(tally(answers)).toEqual({ charged: 4, insufficient_credits: 1, adjusted: 5 });
    const entries = await entriesOf(s, wallet);
    expect(entries.map(({ seq }) => seq)).toEqual(times(11, (i) => i + 1));
  },
);

onEvery('a job that a rival submits while one waits is a duplicate, not an error of a unique index', async (s) => {
  const wallet = await s.wallet(100);
  const rivals = await clients(s, 5);
  const job = external(wallet, 'the same', 40);
  const submit = (client: pg.Client) => s.recoup.using(client).jobs.submit(job);
  const answers = await behind(s, wallet, submit, () => rivals.map((client) => answer(submit(client))));
  expect(tally(answers)).toEqual({ duplicate: 5 });
  const other = { ...job, job: 'another' };
  const mixed = await behind(
    s,
    wallet,
    (client) => s.recoup.using(client).jobs.submit(other),
    () => [
      s.recoup.jobs
        .submitMany([external(wallet, 'x', 1), other, external(wallet, 'y', 1), { ...other, price: 41 }])
        .then((all) => tally(all.map((one) => ('outcome' in one ? one.outcome : one.code)))),
    ],
  );
  expect(mixed).toEqual([{ charged: 2, duplicate: 1, conflict: 1 }]);
});

onEvery(
  'a job that was submitted, finished and pruned while one waited is pruned, not an error of a unique index',
  async (s) => {
    const wallet = await s.wallet(100);
    const [rival] = await clients(s, 1);
    const job = external(wallet, 'short life', 40);
    const live = async (client: pg.Client) => {
      const { jobs } = s.recoup.using(client);
      await jobs.submit(job);
      await jobs.succeed({ wallet, job: job.job });
      await client.query('delete from recoup.jobs where wallet_id = $1', [wallet]);
      await client.query('delete from recoup.attempts where wallet_id = $1', [wallet]);
    };
    // The charge of the other one met a unique index: in a caller's transaction that is its end, whatever it is about.
    const submits = () => [answer(s.recoup.using(rival!).jobs.submit(job))];
    expect(await behind(s, wallet, live, submits)).toEqual(['transaction_conflict']);
    expect(await answer(s.recoup.using(rival!).jobs.submit(job))).toBe('pruned');
    // Known now: nobody has to wait for the wallet to say so.
    expect(await answer(s.recoup.jobs.submit(job))).toEqual('pruned');
    const next = external(wallet, 'short life too', 40);
    const both = async (client: pg.Client) => {
      await s.recoup.using(client).jobs.submit(next);
      await s.recoup.using(client).jobs.succeed({ wallet, job: next.job });
      await client.query('delete from recoup.jobs where wallet_id = $1', [wallet]);
      await client.query('delete from recoup.attempts where wallet_id = $1', [wallet]);
    };
    expect(await behind(s, wallet, both, () => [answer(s.recoup.jobs.submit(next))])).toEqual(['pruned']);
  },
);

onEvery('a key that a rival grants while one waits is a duplicate, and leaves no gap in the sequence', async (s) => {
  const wallet = await s.wallet();
  const rivals = await clients(s, 5);
  const grant = (client: pg.Client) => s.recoup.using(client).wallets.grant({ wallet, key: 'payment', amount: 10 });
  const answers = await behind(s, wallet, grant, () => [
    ...rivals.map((client) => answer(grant(client))),
    answer(
      s.recoup.wallets
        .grantMany([1, 2, 3].map((n) => ({ wallet, key: n === 2 ? 'payment' : `other ${n}`, amount: 10 })))
        .then(() => ({ outcome: 'many' })),
    ),
  ]);
  expect(tally(answers)).toEqual({ duplicate: 5, many: 1 });
  expect((await entriesOf(s, wallet)).map(({ seq, balance: after }) => [seq, after])).toEqual([
    [1, 10],
    [2, 20],
    [3, 30],
  ]);
});

onEvery(
  'an entry of a transaction that began earlier and commits later is not older than the entry before it',
  async (s) => {
    const wallet = await s.wallet();
    const early = await s.client();
    await early.query('begin');
    // Its now() stands from here.
    await early.query('select now()');
    for (let i = 0; i < 3; i++) await s.recoup.wallets.grant({ wallet, key: `later ${i}`, amount: 1 });
    await s.recoup.using(early).wallets.grant({ wallet, key: 'early', amount: 1 });
    await s.recoup.using(early).jobs.submit(external(wallet, 'early', 1));
    await early.query('commit');
    await s.recoup.wallets.grant({ wallet, key: 'last', amount: 1 });
    const instants = (await entriesOf(s, wallet)).map(({ createdAt }) => createdAt.getTime());
    expect(instants).toEqual(instants.toSorted((a, b) => a - b));
    expect(instants.length).toBe(6);
  },
);

onEvery('the outcome of the loser is the one of the winner that committed, not of the state it had read', async (s) => {
  const job = await s.running(40);
  const { wallet } = job;
  const at = { wallet, job: job.job, attempt: 1 };
  const [one, two, three] = await clients(s, 3);
  const answers = await behind(
    s,
    wallet,
    (client) => s.recoup.using(client).jobs.succeed({ ...at, finalPrice: 30 }),
    () => [
      answer(s.recoup.using(one!).jobs.fail({ ...at, verdict: 'definitive', retryable: false })),
      answer(s.recoup.using(two!).jobs.cancel({ wallet, job: job.job })),
      answer(s.recoup.using(three!).jobs.settle({ wallet, job: job.job, finalPrice: 31 })),
    ],
  );
  expect(answers).toEqual(['succeeded', 'succeeded', 'conflict']);
  expect(await ledger(s, wallet)).toEqual(['charge -40', 'settle 10']);
});

onFirst('two ids that a database without care would make one stay two: lone surrogates never arrive', async (s) => {
  const wallet = await s.wallet(10);
  for (const job of ['\ud800', '\udfff', 'a\ud83d'])
    expect(await answer(s.recoup.jobs.submit(external(wallet, job, 1)))).toBe('invalid');
  expect(await ledger(s, wallet)).toEqual([]);
});

onFirst(
  'a database of its own for each test: a template is made once, however many begin at the same moment',
  async (s) => {
    const databases = await Promise.all(times(6, () => testDatabase(s.server.url)));
    expect(new Set(databases.map(({ url }) => url)).size).toBe(6);
    await Promise.all(databases.map((database) => database.drop()));
  },
);

onEvery(
  'a job that changes between the snapshot of a claim and its lock: what is noted for a request is what is given',
  async (s) => {
    const own = await testDatabase(s.server.url);
    const recoup = await open({ connection: own.url, sweep: false });
    try {
      await recoup.wallets.open({ wallet: 'w', customer: 'c' });
      await recoup.jobs.submit({ wallet: 'w', job: 'moving', queue: 'q', price: 0 });
      // A clock at which a statement stands still: its snapshot is taken then, and it has locked nothing yet.
      await own.query(`create or replace function recoup.clock() returns timestamptz language plpgsql stable
      as $$ begin perform pg_advisory_xact_lock_shared(1); return now(); end $$`);
      // Planned now: planning asks the clock too, before the snapshot.
      await recoup.jobs.lease({ queue: 'empty' });
      for (const requestId of ['once', undefined]) {
        const gate = new pg.Client({ connectionString: own.url });
        await gate.connect();
        await gate.query('select pg_advisory_lock(1)');
        const ask = () => recoup.jobs.lease({ queue: 'q', leaseMs: 100, ...(requestId ? { requestId } : {}) });
        const first = ask();
        await untilWaiting(own);
        await gate.query(`update recoup.jobs set priority = 5 where id = 'moving'`);
        await gate.query('select pg_advisory_unlock(1)');
        await gate.end();
        const given = await first;
        const again = given.length > 0 ? given : await ask();
        expect(again.map(({ job }) => [job.id, job.state])).toEqual([['moving', 'running']]);
        const noted = await own.query('select jobs from recoup.lease_requests');
        expect(noted).toEqual([{ jobs: [['w', 'moving', 1]] }]);
        await recoup.jobs.release({ wallet: 'w', job: 'moving', attempt: again[0]!.job.attempt });
      }
      // The clock is ours, and verify says so; nothing else is wrong.
      expect((await recoup.verify()).problems.map(({ check }) => check)).toEqual(['schema.guards']);
    } finally {
      await recoup.close();
      await own.drop();
    }
  },
);

onEvery('the books are right', booksAreRight);
