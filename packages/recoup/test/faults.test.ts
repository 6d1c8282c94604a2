// Faults: answers that are lost after the commit, connections and databases that go away.
import { expect } from 'vitest';
import { open } from '../src/index.ts';
import { CASES } from './support/every-transition.ts';
import { answer, digest, ledger, refusal, stateOf, tally, times } from './support/look.ts';
import { type Cut, CuttingProxy } from './support/proxy.ts';
import { booksAreRight, newId, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';

const { onEvery, onFirst } = staging();
const key = ({ wallet, job }: { wallet: string; job: string }) => ({ wallet, job });

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

onFirst(
  'connections that go silent are given up: what was sent is unavailable, and its repeat is charged once',
  async (s) => {
    const lose = async (lost: Cut) => {
      const proxy = await CuttingProxy.before(s.db.url);
      const recoup = await s.replica({ connection: proxy.url });
      const wallet = await s.wallet(10);
      const submit = { wallet, job: 'the job', queue: newId('queue'), price: 1 };
      // The one connection that is open now is the one that the submit takes.
      await recoup.wallets.balance(wallet);
      const begun = proxy.count('job.submit');
      proxy.silence(lost);
      const first = answer(recoup.jobs.submit(submit));
      await until(() => proxy.count('job.submit') > begun);
      const others = [
        recoup.jobs.lease({ queue: newId('queue') }),
        recoup.wallets.balance(wallet),
        open({ connection: proxy.url, sweep: false }),
      ];
      const heard = await Promise.all([first, ...others.map((call) => answer(call))]);
      expect(heard).toEqual(times(4, () => 'database_unavailable'));
      proxy.speak();
      expect(await answer(recoup.jobs.submit(submit))).toBe(lost === 'request' ? 'charged' : 'duplicate');
      expect(await ledger(s, wallet)).toEqual(['charge -1']);
      await recoup.close();
      await proxy.close();
    };
    await Promise.all([lose('request'), lose('answer')]);
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
