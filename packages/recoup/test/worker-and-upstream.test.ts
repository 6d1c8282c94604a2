// A worker and the upstream behind it: references, hand-over and callback, asking before a second run, waking.
import { expect, vi } from 'vitest';
import type { Check, Recoup, Work } from '../src/index.ts';
import { answer, ledger, stateOf } from './support/look.ts';
import { CuttingProxy } from './support/proxy.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';

const { onEvery, onFirst } = staging();
const key = ({ wallet, job }: { wallet: string; job: string }) => ({ wallet, job });
const inState = (s: Stage, job: { wallet: string; job: string }, state: string) =>
  until(async () => (await stateOf(s, job)).state === state);

onEvery('a reference that a handler notes stays with its attempt and finds the job', async (s) => {
  const job = await s.queued(40);
  const worker = s.recoup.work(job.queue, async (work) => {
    await work.note('upstream 7');
    throw new Error('connection lost');
  });
  await until(async () => (await stateOf(s, job)).failures === 1);
  await worker.stop();
  expect((await s.recoup.jobs.attempts(key(job)))[0]).toMatchObject({ attempt: 1, upstreamRef: 'upstream 7' });
  await s.lease(job.queue);
  const found = await s.recoup.jobs.byUpstreamRef('upstream 7');
  expect(found.map((one) => [one.job.id, one.attempt])).toEqual([[job.job, 1]]);
});

onEvery('a handler that hands over holds no slot and no lease; the callback ends the job, once', async (s) => {
  const job = await s.queued(40);
  const worker = s.recoup.work(
    job.queue,
    async (work: Work) => {
      await work.handOver({ upstreamRef: `of ${work.id}`, deadlineMs: 60_000 });
      return 'not the result';
    },
    { concurrency: 1 },
  );
  await inState(s, job, 'waiting');
  expect(await stateOf(s, job)).toMatchObject({ leaseUntil: null, upstreamRef: `of ${job.job}` });
  // The slot is free: the worker takes the next one.
  await s.recoup.jobs.submit({ wallet: await s.wallet(1), job: 'next', queue: job.queue, price: 1 });
  await until(() => worker.running === 0);
  await worker.stop();
  const [found] = await s.recoup.jobs.byUpstreamRef(`of ${job.job}`);
  const callback = { wallet: found!.job.wallet, job: found!.job.id, attempt: found!.attempt, result: 'the result' };
  expect(await answer(s.recoup.jobs.succeed(callback))).toBe('succeeded');
  expect(await answer(s.recoup.jobs.succeed(callback))).toBe('duplicate');
  expect((await s.recoup.jobs.get(key(job))).result).toBe('the result');
  expect(await ledger(s, job.wallet)).toEqual(['charge -40']);
});

/** A job whose first attempt was presumed failed, ready to run again. */
async function presumedFailed(s: Stage) {
  const job = await s.queued(40);
  await s.lease(job.queue);
  await s.recoup.jobs.extend({ ...key(job), attempt: 1, upstreamRef: 'asked for' });
  await s.recoup.jobs.fail({ ...key(job), attempt: 1, reason: 'time-out' });
  await s.due(job.queue);
  return job;
}

onEvery('before a second run the check is asked: done, still working, or nothing there', async (s) => {
  const found: Record<string, Awaited<ReturnType<Check>>> = {
    succeeded: { status: 'succeeded', result: 'found', finalPrice: 30 },
    waiting: { status: 'working', deadlineMs: 60_000 },
    'ran again': { status: 'failed' },
  };
  for (const [end, checked] of Object.entries(found)) {
    const job = await presumedFailed(s);
    let asked: Work['earlier'] = null;
    let runs = 0;
    const check: Check = async ({ earlier }) => {
      asked = earlier;
      return checked;
    };
    const worker = s.recoup.work(
      job.queue,
      async () => {
        runs += 1;
        return 'ran again';
      },
      { check },
    );
    await inState(s, job, end === 'waiting' ? 'waiting' : 'succeeded');
    await worker.stop();
    expect(asked).toMatchObject({ attempt: 1, verdict: 'presumed', upstreamRef: 'asked for', reason: 'time-out' });
    expect([end, runs]).toEqual([end, end === 'ran again' ? 1 : 0]);
    const { result, job: row } = await s.recoup.jobs.get(key(job));
    if (end === 'succeeded') expect([result, row.succeededAttempt, row.finalPrice]).toEqual(['found', 1, 30]);
    if (end === 'waiting') expect(row).toMatchObject({ attempt: 2, upstreamRef: 'asked for' });
  }
});

onEvery(
  'a job due in an hour: the idle worker does not ask again and again, and starts it when it is due',
  async (s) => {
    const proxy = await CuttingProxy.before(s.db.url);
    const replica = await s.replica({ connection: proxy.url, pollMs: 3_600_000 });
    await s.stopClock();
    const [queue, wallet] = [newId('queue'), await s.wallet(2)];
    await s.recoup.jobs.submit({ wallet, job: 'in an hour', queue, price: 1, delayMs: 3_600_000 });
    proxy.count('job.lease');
    const ran: string[] = [];
    const worker = replica.work(queue, async ({ id }) => void ran.push(id));
    await until(() => proxy.count('job.lease') > 0);
    // A worker that spins would ask about as often as this one does.
    for (let i = 0; i < 300; i++) await s.recoup.jobs.get({ wallet, job: 'in an hour' });
    expect(proxy.count('job.lease')).toBeLessThan(10);
    expect(ran).toEqual([]);
    await s.recoup.jobs.submit({ wallet, job: 'now', queue, price: 1 });
    await until(() => ran.includes('now'));
    await s.db.advance(3_600_000);
    replica.wake(queue);
    await until(() => ran.includes('in an hour'));
    await worker.stop();
    await replica.close();
    await proxy.close();
  },
);

const listeners = `select pid from pg_stat_activity where datname = current_database() and query like 'listen %' and application_name = 'listener'`;

onEvery('a listener whose connection drops: due jobs still start by the poll, and it listens again', async (s) => {
  const replica = await s.replica({ pollMs: 50, applicationName: 'listener' });
  const [queue, ran] = [newId('queue'), [] as string[]];
  const worker = replica.work(queue, async ({ id }) => void ran.push(id));
  const [listener] = await until(async () => {
    const rows = await s.db.query(listeners);
    return rows.length > 0 && rows;
  });
  await s.db.query('select pg_terminate_backend($1::int)', [listener!.pid]);
  await until(async () => (await s.db.query(listeners)).length === 0);
  // This one is told to nobody.
  const silent = await s.replica({ pooler: true });
  await silent.jobs.submit({ wallet: await s.wallet(1), job: 'untold', queue, price: 1 });
  await until(() => ran.includes('untold'));
  await until(async () => (await s.db.query(listeners)).length === 1);
  await worker.stop();
});

onEvery('a job submitted by another replica wakes a worker that would sleep for an hour', async (s) => {
  const replica = await s.replica({ pollMs: 3_600_000, applicationName: 'listener' });
  const [queue, ran] = [newId('queue'), [] as string[]];
  const worker = replica.work(queue, async ({ id }) => void ran.push(id));
  await until(async () => (await s.db.query(listeners)).length > 0);
  await s.recoup.jobs.submit({ wallet: await s.wallet(1), job: 'told', queue, price: 1 });
  await until(() => ran.includes('told'));
  // Words on the channel that are not ours do no harm.
  for (const words of ['garbage', '{}', 'null', '[1, null]', ''])
    await s.db.query(`select pg_notify('recoup_wake', $1)`, [words]);
  await s.recoup.jobs.submit({ wallet: await s.wallet(1), job: 'told again', queue, price: 1 });
  await until(() => ran.includes('told again'));
  await worker.stop();
  await replica.close();
});

onFirst(
  'a replica whose own clock is off, either way, changes nothing: the clock of the database decides',
  async (s) => {
    for (const off of [-600_000, 300_000, 86_400_000 * 365]) {
      const replica: Recoup = await s.replica();
      await s.stopClock();
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + off });
      try {
        const [queue, wallet] = [newId('queue'), await s.wallet(2)];
        const now = (await s.db.now()).getTime();
        const { job } = await replica.jobs.submit({ wallet, job: 'delayed', queue, price: 1, delayMs: 60_000 });
        expect([job.submittedAt.getTime(), job.notBefore!.getTime()]).toEqual([now, now + 60_000]);
        expect(await replica.jobs.lease({ queue })).toEqual([]);
        await s.db.advance(60_000);
        const [leased] = await replica.jobs.lease({ queue, leaseMs: 30_000 });
        expect(leased!.job.leaseUntil!.getTime()).toBe(now + 90_000);
        await replica.sweep();
        expect(await stateOf(s, { wallet, job: 'delayed' })).toMatchObject({ state: 'running' });
        await s.db.advance(30_000);
        await replica.sweep();
        expect(await stateOf(s, { wallet, job: 'delayed' })).toMatchObject({ state: 'queued' });
      } finally {
        vi.useRealTimers();
      }
    }
  },
);

onEvery('the books are right', booksAreRight);
