// The worker: what a handler's end means, and that money is right whatever becomes of worker, lease and handler.
import { expect } from 'vitest';
import { type Aborted, Done, Failure, Release, type Work } from '../src/index.ts';
import { ledger, stateOf } from './support/look.ts';
import { standStillUntilSwept, workerProcess } from './support/processes.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';

const { onEvery, onFirst } = staging();
const key = ({ wallet, job }: { wallet: string; job: string }) => ({ wallet, job });
const inState = (s: Stage, job: { wallet: string; job: string }, state: string) =>
  until(async () => (await stateOf(s, job)).state === state);
const endings = async (s: Stage, job: { wallet: string; job: string }) =>
  (await s.recoup.jobs.attempts(key(job))).map(({ attempt, endedAs }) => `${attempt} ${endedAs}`);

/** Runs one job with a handler until it has left the handler's hands; then stops the worker. */
async function runOnce(
  s: Stage,
  job: { queue: string },
  handler: (work: Work) => unknown,
  options = {},
): Promise<void> {
  let ran = () => {};
  const once = new Promise<void>((done) => {
    ran = done;
  });
  const worker = s.recoup.work(
    job.queue,
    async (work) => {
      ran();
      return handler(work);
    },
    { concurrency: 1, name: 'the worker', ...options },
  );
  await once;
  await worker.stop();
}

onEvery('what a handler returns is the result; with a final price and a reference where it says so', async (s) => {
  const [plain, more] = [await s.queued(40, { payload: { n: 5 } }), await s.queued(40)];
  await runOnce(s, plain, ({ payload }) => ({ doubled: (payload as { n: number }).n * 2 }));
  await runOnce(s, more, () => new Done('done', { finalPrice: 30, upstreamRef: 'ref' }));
  expect((await s.recoup.jobs.get(key(plain))).result).toEqual({ doubled: 10 });
  expect(await stateOf(s, more)).toMatchObject({
    state: 'succeeded',
    finalPrice: 30,
    upstreamRef: 'ref',
    worker: 'the worker',
  });
  expect(await ledger(s, more.wallet)).toEqual(['charge -40', 'settle 10']);
});

onEvery('what a handler throws is a presumed failure unless it says more; a Release counts nothing', async (s) => {
  const cases: [unknown, object][] = [
    [new Error('boom'), { state: 'queued', failures: 1, verdict: 'presumed', reason: 'boom' }],
    ['a text', { state: 'queued', failures: 1, verdict: 'presumed', reason: 'a text' }],
    [undefined, { state: 'queued', failures: 1, verdict: 'presumed' }],
    [
      new Failure('no', { verdict: 'definitive' }),
      { state: 'queued', failures: 1, verdict: 'definitive', reason: 'no' },
    ],
    [new Failure('never', { verdict: 'definitive', retryable: false }), { state: 'dead', failures: 1 }],
    [new Release('not now', { delayMs: 1000 }), { state: 'queued', failures: 0, releases: 1 }],
  ];
  for (const [thrown, expected] of cases) {
    const job = await s.queued(40);
    await runOnce(s, job, () => {
      throw thrown;
    });
    expect(await stateOf(s, job)).toMatchObject(expected);
    expect(await ledger(s, job.wallet)).toEqual(
      thrown instanceof Release ? ['charge -40'] : ['charge -40', 'refund 40'],
    );
  }
});

onFirst(
  'a failure or release that says what cannot be said is reported without it: the job does not stand in running for ever',
  async (s) => {
    const thrown = [
      new Failure('empty reference', { upstreamRef: '' }),
      new Failure('no number', { retryAfterMs: Number.NaN }),
      new Failure('for ever', { retryAfterMs: Number.POSITIVE_INFINITY }),
      new Failure('a century', { retryAfterMs: 3_153_600_000_000 }),
      new Failure('\u0000 and \ud800', { verdict: 'perhaps' as 'presumed' }),
      new Release('half', { delayMs: 0.5 }),
    ];
    for (const one of thrown) {
      const job = await s.queued(40);
      await runOnce(s, job, () => {
        throw one;
      });
      expect([one.message, (await stateOf(s, job)).state]).toEqual([one.message, 'queued']);
    }
    const bad = await s.queued(40);
    await runOnce(s, bad, () => new Done('x', { finalPrice: 0.5 }));
    // The work was done: what is wrong beside its result can be told later.
    expect(await stateOf(s, bad)).toMatchObject({ state: 'succeeded', finalPrice: null });
    s.complaints.length = 0;
  },
);

onFirst('where a report is refused for good, the lease is let go and lapses', async (s) => {
  const job = await s.queued(40);
  await s.recoup.wallets.adjust({ wallet: job.wallet, key: 'fill', amount: Number.MAX_SAFE_INTEGER });
  await runOnce(
    s,
    job,
    () => {
      throw new Error('the refund does not fit');
    },
    { leaseMs: 200 },
  );
  expect(s.complaints.length).toBeGreaterThan(0);
  await s.recoup.wallets.adjust({ wallet: job.wallet, key: 'free', amount: -Number.MAX_SAFE_INTEGER });
  await until(async () => {
    await s.recoup.sweep();
    return (await stateOf(s, job)).state === 'queued';
  });
  s.complaints.length = 0;
});

onEvery('a killed worker process: after the lease its job runs again elsewhere, the attempt is counted', async (s) => {
  const job = await s.queued(40);
  const child = workerProcess(s.db.url, job.queue);
  expect(await child.began).toEqual({ id: job.job, attempt: 1 });
  await child.kill();
  expect(await stateOf(s, job)).toMatchObject({ state: 'running', attempt: 1 });
  await s.db.advance(3_600_000);
  await s.recoup.sweep();
  await s.due(job.queue);
  await runOnce(s, job, ({ earlier }) => earlier);
  expect(await stateOf(s, job)).toMatchObject({ state: 'succeeded', attempt: 2, failures: 1, succeededAttempt: 2 });
  expect((await s.recoup.jobs.get(key(job))).result).toMatchObject({
    attempt: 1,
    verdict: 'presumed',
    reason: 'lease lapsed',
  });
  expect(await endings(s, job)).toEqual(['1 lapsed', '2 succeeded']);
  expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
});

onEvery(
  'an event loop that stands still for longer than the lease: the attempt number keeps the money right',
  async (s) => {
    await s.stopClock();
    const job = await s.queued(40);
    await runOnce(
      s,
      job,
      () => {
        standStillUntilSwept(s.db.url, job.wallet, job.job);
        return 'late';
      },
      { leaseMs: 100 },
    );
    expect(await stateOf(s, job)).toMatchObject({ state: 'succeeded', attempt: 1, failures: 1 });
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
  },
);

/** Lets the lease of a running job lapse, against its worker's heartbeat. */
async function takeAway(s: Stage, job: { wallet: string; job: string }): Promise<void> {
  await until(async () => {
    await s.db.advance(3_600_000);
    await s.recoup.sweep();
    return (await stateOf(s, job)).state !== 'running';
  });
}

onEvery(
  'a handler that outlives its lease: its signal fires, and whichever way it ends there is one settlement',
  async (s) => {
    for (const end of ['returns', 'throws', 'refused'] as const) {
      const job = await s.queued(40);
      let cause: unknown;
      await runOnce(
        s,
        job,
        async ({ signal }) => {
          await takeAway(s, job);
          await until(() => signal.aborted);
          cause = (signal.reason as Aborted).cause;
          if (end === 'throws') throw new Error('too late');
          if (end === 'refused') throw new Failure('refused', { verdict: 'definitive', retryable: false });
          return 'late';
        },
        { leaseMs: 100 },
      );
      expect(cause).toBe('lease_lost');
      const expected = { returns: 'succeeded', throws: 'queued', refused: 'dead' }[end];
      expect([end, (await stateOf(s, job)).state]).toEqual([end, expected]);
      expect((await ledger(s, job.wallet)).length).toBe(end === 'returns' ? 3 : 2);
    }
  },
);

onEvery(
  'a job canceled or finished elsewhere while its handler runs: the signal says so, nothing more is booked',
  async (s) => {
    for (const ended of ['canceled', 'succeeded'] as const) {
      const job = await s.queued(40);
      let cause: unknown;
      await runOnce(
        s,
        job,
        async ({ signal }) => {
          await (ended === 'canceled'
            ? s.recoup.jobs.cancel(key(job))
            : s.recoup.jobs.succeed({ ...key(job), attempt: 1 }));
          await until(() => signal.aborted);
          cause = (signal.reason as Aborted).cause;
          return 'too late';
        },
        { leaseMs: 100 },
      );
      expect([cause, (await stateOf(s, job)).state]).toEqual([ended, ended]);
      expect((await s.recoup.jobs.get(key(job))).result).toBeNull();
      expect(await ledger(s, job.wallet)).toEqual(ended === 'canceled' ? ['charge -40', 'refund 40'] : ['charge -40']);
    }
  },
);

onEvery('a run past its time-out is a presumed failure; its late result still counts', async (s) => {
  const job = await s.queued(40);
  let finish = (_: unknown) => {};
  const result = new Promise((done) => {
    finish = done;
  });
  const worker = s.recoup.work(job.queue, () => result, { timeoutMs: 10, graceMs: 10 });
  await until(async () => (await stateOf(s, job)).failures === 1);
  expect(await stateOf(s, job)).toMatchObject({ state: 'queued', verdict: 'presumed' });
  finish('late');
  await inState(s, job, 'succeeded');
  await worker.stop();
  expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
});

onEvery(
  'a worker that is stopped with three jobs running: they finish or are released, no failure, no refund',
  async (s) => {
    const [queue, wallet] = [newId('queue'), await s.wallet(120)];
    const jobs = ['finishes', 'heeds its signal', 'hears nothing'].map((job) => ({ wallet, job }));
    for (const job of jobs) await s.recoup.jobs.submit({ ...job, queue, price: 40 });
    const worker = s.recoup.work(
      queue,
      async ({ id, signal }) => {
        if (id === 'hears nothing') return new Promise(() => {});
        if (id === 'finishes') await until(() => stopping);
        else await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        return 'done';
      },
      { drainMs: 1000, graceMs: 10 },
    );
    let stopping = false;
    await until(() => worker.running === 3);
    const stopped = worker.stop();
    stopping = true;
    await s.recoup.jobs.submit({ wallet: await s.wallet(1), job: 'after the stop', queue, price: 1 });
    await stopped;
    await worker.stopped;
    const states = await Promise.all(jobs.map((job) => stateOf(s, job)));
    expect(states.map(({ state, failures, releases }) => [state, failures, releases])).toEqual([
      ['succeeded', 0, 0],
      ['queued', 0, 1],
      ['queued', 0, 1],
    ]);
    expect(await ledger(s, wallet)).toEqual(['charge -40', 'charge -40', 'charge -40']);
    expect((await s.recoup.jobs.lease({ queue, count: 9 })).length).toBe(3);
  },
);

onEvery('the books are right', booksAreRight);
