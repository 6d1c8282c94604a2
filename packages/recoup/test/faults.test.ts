// Faults: answers that are lost after the commit, races that the server reports, connections and databases that go away.
import { expect } from 'vitest';
import { open, type Recoup } from '../src/index.ts';
import { answer, digest, ledger, refusal, stateOf, tally, times } from './support/look.ts';
import { CuttingProxy } from './support/proxy.ts';
import { booksAreRight, newId, type Running, type Stage, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';

const { onEvery, onFirst } = staging();
const at = ({ wallet, job, attempt }: Running) => ({ wallet, job, attempt });
const key = ({ wallet, job }: { wallet: string; job: string }) => ({ wallet, job });

interface Case {
  /** Makes what the call is about; returns the call. */
  make(s: Stage): Promise<(recoup: Recoup) => Promise<unknown>>;
  first: string;
  again: string;
}

const onRunning = (call: (recoup: Recoup, job: Running) => Promise<unknown>) => async (s: Stage) => {
  const job = await s.running(40);
  return (recoup: Recoup) => call(recoup, job);
};
const onDead = (call: (recoup: Recoup, job: Running) => Promise<unknown>) => async (s: Stage) => {
  const job = await s.running(40);
  await s.recoup.jobs.fail({ ...at(job), retryable: false });
  return (recoup: Recoup) => call(recoup, job);
};

/** Every transition: what the call says when it is heard, and what its repeat says after the first answer was lost. */
const CASES: Readonly<Record<string, Case>> = {
  'wallet.open': {
    make: async () => {
      const wallet = newId('wallet');
      return ({ wallets }) => wallets.open({ wallet, customer: 'customer' });
    },
    first: 'opened',
    again: 'duplicate',
  },
  'wallet.grant': {
    make: async (s) => {
      const wallet = await s.wallet();
      return ({ wallets }) => wallets.grant({ wallet, key: 'key', amount: 5 });
    },
    first: 'granted',
    again: 'duplicate',
  },
  'wallet.adjust': {
    make: async (s) => {
      const wallet = await s.wallet();
      return ({ wallets }) => wallets.adjust({ wallet, key: 'key', amount: -5 });
    },
    first: 'adjusted',
    again: 'duplicate',
  },
  'job.submit': {
    make: async (s) => {
      const submit = { wallet: await s.wallet(40), job: newId('job'), queue: newId('queue'), price: 40, payload: [1] };
      return ({ jobs }) => jobs.submit(submit);
    },
    first: 'charged',
    again: 'duplicate',
  },
  'job.extend': {
    make: onRunning(({ jobs }, job) => jobs.extend({ ...at(job), leaseMs: 60_000 })),
    first: 'extended',
    again: 'extended',
  },
  'job.handOver': {
    make: onRunning(({ jobs }, job) => jobs.handOver(at(job))),
    first: 'handed_over',
    again: 'duplicate',
  },
  'job.release': { make: onRunning(({ jobs }, job) => jobs.release(at(job))), first: 'released', again: 'duplicate' },
  'job.fail': { make: onRunning(({ jobs }, job) => jobs.fail(at(job))), first: 'retrying', again: 'duplicate' },
  'job.succeed': { make: onRunning(({ jobs }, job) => jobs.succeed(at(job))), first: 'succeeded', again: 'duplicate' },
  'job.cancel': { make: onRunning(({ jobs }, job) => jobs.cancel(key(job))), first: 'canceled', again: 'duplicate' },
  'job.settle': {
    make: async (s) => {
      const job = await s.running(40);
      await s.recoup.jobs.succeed(at(job));
      return ({ jobs }) => jobs.settle({ ...key(job), finalPrice: 30 });
    },
    first: 'settled',
    again: 'duplicate',
  },
  'job.redrive': {
    make: onDead(({ jobs }, job) => jobs.deadLetters.redrive(key(job))),
    first: 'redriven',
    again: 'duplicate',
  },
  'job.discard': {
    make: onDead(({ jobs }, job) => jobs.deadLetters.discard(key(job))),
    first: 'discarded',
    again: 'duplicate',
  },
};

onEvery(
  'an answer lost after the commit: the caller learns that it was not heard, and the repeat changes nothing more',
  async (s) => {
    const proxy = await CuttingProxy.before(s.db.url);
    const recoup = await s.replica({ connection: proxy.url });
    await s.stopClock();
    for (const [name, { make, again }] of Object.entries(CASES)) {
      const call = await make(s);
      const before = await digest(s.db);
      proxy.cutNext(name, 'answer');
      const lost = await refusal(call(recoup));
      expect([name, lost.code, lost.retryable]).toEqual([name, 'database_unavailable', true]);
      const after = await digest(s.db);
      expect([name, after === before]).toEqual([name, false]);
      expect([name, await answer(call(recoup))]).toEqual([name, again]);
      expect([name, (await digest(s.db)) === after]).toEqual([name, true]);
    }
    expect(proxy.cut).toBe(Object.keys(CASES).length);
    await recoup.close();
    await proxy.close();
  },
);

onEvery('a request lost before the server saw it: nothing has changed, and the repeat does it', async (s) => {
  const proxy = await CuttingProxy.before(s.db.url);
  const recoup = await s.replica({ connection: proxy.url });
  for (const [name, { make, first }] of Object.entries(CASES)) {
    const call = await make(s);
    const before = await digest(s.db);
    proxy.cutNext(name, 'request');
    expect([name, await answer(call(recoup))]).toEqual([name, 'database_unavailable']);
    expect([name, (await digest(s.db)) === before]).toEqual([name, true]);
    expect([name, await answer(call(recoup))]).toEqual([name, first]);
  }
  await recoup.close();
  await proxy.close();
});

onEvery('a batch whose answer is lost is lost as a whole; its repeat is answered duplicate by duplicate', async (s) => {
  const proxy = await CuttingProxy.before(s.db.url);
  const recoup = await s.replica({ connection: proxy.url });
  const wallet = await s.wallet(30);
  const batch = times(30, (i) => ({ wallet, job: `job ${i}`, queue: null, price: 1 }));
  proxy.cutNext('job.submit', 'answer');
  expect(await answer(recoup.jobs.submitMany(batch))).toBe('database_unavailable');
  const answers = await recoup.jobs.submitMany(batch);
  expect(tally(answers.map((one) => ('outcome' in one ? one.outcome : one.code)))).toEqual({ duplicate: 30 });
  expect(tally(await ledger(s, wallet))).toEqual({ 'charge -1': 30 });
  await recoup.close();
  await proxy.close();
});

/** Makes the next `times` changes of a table fail with a code, as the server reports a lost race; counted past rollbacks. */
async function failNext(s: Stage, table: string, sqlstate: string, count: number): Promise<void> {
  await s.db.query(`drop sequence if exists recoup.trouble; create sequence recoup.trouble`);
  await s.db.query(`create or replace function recoup.make_trouble() returns trigger language plpgsql as
    $$ begin if nextval('recoup.trouble') <= ${count} then raise exception 'trouble' using errcode = '${sqlstate}'; end if; return null; end $$`);
  await s.db.query(`create or replace trigger trouble after insert or update on recoup.${table}
    for each statement execute function recoup.make_trouble()`);
}

onEvery(
  'a serialization failure or deadlock that the server reports is run again inside until it succeeds',
  async (s) => {
    for (const sqlstate of ['40001', '40P01']) {
      for (const [name, { make, first }] of Object.entries(CASES)) {
        const call = await make(s);
        const table = /^wallet/.test(name) ? 'wallets' : 'jobs';
        await failNext(s, table, sqlstate, 3);
        expect([name, await answer(call(s.recoup))]).toEqual([name, first]);
        await s.db.query(`drop trigger trouble on recoup.${table}`);
      }
    }
  },
);

onFirst('any other error of the server is answered as one, changes nothing, and is nobody else\u2019s', async (s) => {
  for (const [name, { make, first }] of Object.entries(CASES)) {
    const call = await make(s);
    const table = /^wallet/.test(name) ? 'wallets' : 'jobs';
    const before = await digest(s.db);
    await failNext(s, table, 'XX000', 1_000_000);
    expect([name, await answer(call(s.recoup))]).toEqual([name, 'database_error']);
    expect([name, (await digest(s.db)) === before]).toEqual([name, true]);
    await s.db.query(`drop trigger trouble on recoup.${table}`);
    expect([name, await answer(call(s.recoup))]).toEqual([name, first]);
  }
});

onEvery(
  'a database that is gone: calls are refused as unavailable, nothing is accepted and lost, and they go on when it is back',
  async (s) => {
    const proxy = await CuttingProxy.before(s.db.url);
    const recoup = await s.replica({ connection: proxy.url });
    const wallet = await s.wallet(10);
    const submit = (job: string) => ({ wallet, job, queue: null, price: 1 });
    await recoup.jobs.submit(submit('before'));
    proxy.down();
    const before = await digest(s.db);
    for (let i = 0; i < 3; i++) {
      const refused = await refusal(recoup.jobs.submit(submit('meanwhile')));
      expect([refused.code, refused.status, refused.retryable]).toEqual(['database_unavailable', 503, true]);
    }
    expect(await answer(recoup.wallets.balance(wallet))).toBe('database_unavailable');
    expect(await answer(recoup.transaction(({ jobs }) => jobs.submit(submit('meanwhile'))))).toBe(
      'database_unavailable',
    );
    expect(await answer(open({ connection: proxy.url, sweep: false }))).toBe('database_unavailable');
    expect(await digest(s.db)).toBe(before);
    proxy.up();
    expect(await answer(recoup.jobs.submit(submit('meanwhile')))).toBe('charged');
    expect(await ledger(s, wallet)).toEqual(['charge -1', 'charge -1']);
    await recoup.close();
    await proxy.close();
  },
);

onEvery(
  'a worker whose report is lost, before or after the commit, reports again; a lease whose answer is lost is asked for again',
  async (s) => {
    const proxy = await CuttingProxy.before(s.db.url);
    const recoup = await s.replica({ connection: proxy.url, pollMs: 50 });
    const queue = newId('queue');
    const worker = recoup.work(queue, async ({ payload }) => {
      if (payload === 'fails') throw new Error('failed');
      return 'done';
    });
    for (const cut of ['request', 'answer'] as const) {
      for (const [payload, name] of [
        ['works', 'job.succeed'],
        ['fails', 'job.fail'],
        ['works', 'job.lease'],
      ] as const) {
        proxy.cutNext(name, cut);
        const cuts = proxy.cut;
        const job = await s.queued(40, { queue, payload });
        await until(async () => {
          const { state, failures } = await stateOf(s, job);
          return state === 'succeeded' || failures > 0;
        });
        await until(() => proxy.cut > cuts);
        expect(await stateOf(s, job)).toMatchObject({ attempt: 1, failures: payload === 'fails' ? 1 : 0 });
        expect(await ledger(s, job.wallet)).toEqual(payload === 'fails' ? ['charge -40', 'refund 40'] : ['charge -40']);
        await s.recoup.jobs.cancel(key(job));
      }
    }
    await worker.stop();
    await recoup.close();
    await proxy.close();
  },
);

onEvery('the books are right', booksAreRight);
