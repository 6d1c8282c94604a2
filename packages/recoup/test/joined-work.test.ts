// Queues on pools at work: workers, drains after an outage, the caller's transaction, what is refused.
import { expect } from 'vitest';
import { Done, Failure, type LeasedUpstream } from '../src/index.ts';
import { answers, joined, keyOf, slotsOut, take } from './support/joined.ts';
import { answer, ledger, refusal, stateOf } from './support/look.ts';
import { failing, HOUR, SECOND } from './support/pools.ts';
import { booksAreRight, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';

const { onEvery, onFirst } = staging();

onFirst('in a transaction of the caller’s both go back with it', async (s) => {
  const { names, pool, queue, wallet, ids } = await joined(s, 1, 1);
  const thrown = s.recoup.transaction(async ({ jobs }) => {
    const [leased] = await jobs.lease({ queue });
    expect(await jobs.report({ ...keyOf(leased!), answer: answers.limited })).toMatchObject({ outcome: 'released' });
    throw new Error('never mind');
  });
  await expect(thrown).rejects.toThrow('never mind');
  expect(await slotsOut(s, pool)).toEqual({});
  expect(await failing(s, names[0]!)).toEqual([]);
  expect(await stateOf(s, { wallet, job: ids[0]! })).toMatchObject({ state: 'queued', attempt: 0, releases: 0 });
});

onFirst('what no report can be is refused, and changes nothing', async (s) => {
  const { pool, queue } = await joined(s, 1, 1);
  const key = keyOf(await take(s, queue));
  const fields = async (more: object) =>
    (await refusal(s.recoup.jobs.report({ ...key, ...more } as never))).details.field;
  expect(await fields({})).toBe('answer');
  expect(await fields({ answer: {} })).toBe('answer.status');
  expect(await fields({ answer: { status: 99 } })).toBe('answer.status');
  expect(await fields({ answer: answers.fine, attempt: 0 })).toBe('attempt');
  expect(await fields({ answer: answers.fine, finalPrice: -1 })).toBe('finalPrice');
  expect(await fields({ answer: answers.fine, use: { tokens: -1 } })).toBe('use.tokens');
  expect(await fields({ answer: answers.fine, verdict: 'presumed' })).toBe('verdict');
  expect(await fields({ answer: answers.fine, attempt: 7 })).toBe('attempt');
  expect(await answer(s.recoup.jobs.report({ ...key, job: 'nobody', answer: answers.fine }))).toBe('no_job');
  expect(Object.values(await slotsOut(s, pool))).toEqual([1]);
});

onEvery(
  'a hundred jobs drain in the order of their submits when a pool of three is back, and never more is out than its trials allow',
  async (s) => {
    const { pool, queue, ids } = await joined(s, 3, 100, { maxConcurrency: 4 });
    await s.stopClock();
    for (const pair of await s.recoup.jobs.lease({ queue, count: 3 })) {
      expect(await answer(s.recoup.jobs.report({ ...keyOf(pair), answer: answers.limited }))).toBe('released');
    }
    const during = await s.recoup.jobs.claim({ queue });
    expect(during.out).toMatchObject({ retryAfterMs: 30_000 });
    await s.db.advance(30_000);
    const replicas = [s.recoup, await s.replica()];
    const taken: string[] = [];
    const atOnce: number[] = [];
    for (let round = 0; taken.length < ids.length; round++) {
      const { jobs } = await replicas[round % 2]!.jobs.claim({ queue, count: 50 });
      atOnce.push(jobs.length);
      taken.push(...jobs.map(({ job }) => job.id));
      await s.db.advance(SECOND);
      for (const pair of jobs) await s.recoup.jobs.report({ ...keyOf(pair), answer: answers.fine });
      await s.db.advance(SECOND);
    }
    expect(taken).toEqual(ids);
    // One trial each; then two, four, and their slots.
    expect(atOnce.slice(0, 5)).toEqual([3, 6, 12, 12, 12]);
    expect(await slotsOut(s, pool)).toEqual({});
  },
);

onEvery('a worker’s handler gets the upstream, and what it returns or throws is told to both', async (s) => {
  const { names, pool, queue, wallet, ids } = await joined(s, 2, 4, { maxConcurrency: 1 });
  const tokens = {
    limit: `${pool}-day`,
    upstream: names[1]!,
    unit: 'tokens',
    amount: 1000,
    kind: 'daily',
    zone: 'UTC',
  } as const;
  await s.recoup.upstreams.limits.set(tokens);
  const used: string[] = [];
  const recoup = await s.replica({ pollMs: 100 });
  const worker = recoup.work(queue, async ({ id, upstream }) => {
    used.push((upstream as LeasedUpstream).upstream);
    // The first upstream is limited from now on; the third job is none that anybody takes.
    if (upstream!.upstream === names[0]) throw new Failure('no', { answer: answers.limited });
    if (id === ids[2]) throw new Failure('no', { answer: answers.tooLong });
    return new Done(id, { use: { tokens: 2 } });
  });
  const states = async () => Promise.all(ids.map(async (job) => (await stateOf(s, { wallet, job })).state));
  await until(async () => (await states()).join() === 'succeeded,succeeded,dead,succeeded');
  await worker.stop();
  expect(used.filter((one) => one === names[0])).toHaveLength(1);
  expect(await failing(s, names[0]!)).toEqual(['blocked']);
  expect(await s.recoup.upstreams.limits.list({ upstream: names[1]! })).toMatchObject([{ used: 6 }]);
  expect(await slotsOut(s, pool)).toEqual({});
  expect((await ledger(s, wallet)).filter((entry) => entry !== 'charge -10')).toEqual(['refund 10']);
});

onFirst(
  'a worker that throws anything else gives the slot back and blames nobody; an answer that is none counts as a failure',
  async (s) => {
    const { names, pool, queue, wallet, ids } = await joined(s, 1, 2, { maxConcurrency: 1 });
    await s.recoup.queues.configure(queue, { backoffBaseMs: HOUR, backoffMaxMs: HOUR });
    const worker = s.recoup.work(queue, async ({ id }) => {
      throw id === ids[0] ? new Error('oops') : new Failure('odd', { answer: { status: 7 } });
    });
    await until(async () => (await stateOf(s, { wallet, job: ids[1]! })).failures === 1);
    await worker.stop();
    expect(await stateOf(s, { wallet, job: ids[0]! })).toMatchObject({ failures: 1, reason: 'oops' });
    expect(await failing(s, names[0]!)).toEqual([]);
    expect(await slotsOut(s, pool)).toEqual({});
    expect(s.complaints.splice(0).map(({ message }) => message)).toEqual([expect.stringContaining('answer.status')]);
  },
);

onFirst('a waiting worker is woken when a slot is given back', async (s) => {
  const { names, queue, wallet, ids } = await joined(s, 1, 2, { maxConcurrency: 1 });
  const recoup = await s.replica({ pollMs: 60_000 });
  const held = keyOf(await take(s, queue));
  const worker = recoup.work(queue, async ({ id }) => id);
  // It has looked, and waits for the slot: by its poll it would wait a minute.
  await until(async () => worker.running === 0 && (await failing(s, names[0]!)).length === 1);
  expect(await answer(recoup.jobs.report({ ...held, answer: answers.fine }))).toBe('succeeded');
  await until(async () => (await stateOf(s, { wallet, job: ids[1]! })).state === 'succeeded');
  await worker.stop();
});

onFirst('the books are right', booksAreRight);
