// The queue: who gets which job when, how retries are spaced and capped, what becomes of dead letters.
import { expect } from 'vitest';
import { answer, digest, ledger, refusal, stateOf, times } from './support/look.ts';
import { booksAreRight, newId, type Running, type Stage, staging } from './support/stage.ts';
import { settledOrWaiting } from './support/waiting.ts';

const { onEvery, onFirst } = staging();
const at = ({ wallet, job, attempt }: Running) => ({ wallet, job, attempt });
const key = ({ wallet, job }: { wallet: string; job: string }) => ({ wallet, job });

/** Jobs of price 0 in one queue, submitted at once. */
async function fill(s: Stage, queue: string, count: number, more: object = {}): Promise<void> {
  const wallet = await s.wallet();
  await s.recoup.jobs.submitMany(times(count, (i) => ({ wallet, job: `job ${i}`, queue, price: 0, ...more })));
}

onEvery('workers that claim from one queue of 10,000 jobs get every job once', async (s) => {
  const queue = newId('queue');
  await fill(s, queue, 10_000);
  const replicas = [s.recoup, await s.replica(), await s.replica(), await s.replica()];
  const got: string[] = [];
  const claim = async (worker: number) => {
    for (;;) {
      const leased = await replicas[worker % 4]!.jobs.lease({
        queue,
        count: 7 * (worker + 1) * 10,
        worker: `worker ${worker}`,
      });
      if (leased.length === 0) return;
      got.push(...leased.map(({ job }) => job.id));
    }
  };
  await Promise.all(times(6, claim));
  expect(got.length).toBe(10_000);
  expect(new Set(got).size).toBe(10_000);
});

onEvery(
  'jobs come by priority, then by when they are due; not before, and not from a paused or another queue',
  async (s) => {
    const [queue, wallet] = [newId('queue'), await s.wallet()];
    await s.db.advance(1);
    const start = await s.stopClock();
    const submit = (job: string, more: object) => s.recoup.jobs.submit({ wallet, job, queue, price: 0, ...more });
    await submit('last', { priority: 9 });
    await submit('later', { delayMs: 60_000, priority: 0 });
    await submit('second', { notBefore: new Date(start - 1000) });
    await submit('third', {});
    await submit('first', { priority: 0 });
    await s.recoup.queues.configure(queue, { paused: true });
    expect(await s.recoup.jobs.lease({ queue, count: 10 })).toEqual([]);
    await s.recoup.queues.configure(queue, { paused: false });
    expect(await s.recoup.jobs.lease({ queue: newId('queue'), count: 10 })).toEqual([]);
    const one = await s.recoup.jobs.lease({ queue });
    expect(one.map(({ job }) => job.id)).toEqual(['first']);
    const rest = await s.recoup.jobs.lease({ queue, count: 10 });
    expect(rest.map(({ job }) => job.id)).toEqual(['second', 'third', 'last']);
    await s.db.advance(59_999);
    expect(await s.recoup.jobs.lease({ queue })).toEqual([]);
    await s.db.advance(1);
    expect((await s.recoup.jobs.lease({ queue })).map(({ job }) => job.id)).toEqual(['later']);
  },
);

onEvery(
  'a lease whose answer was lost is asked for again by its request id: the same attempts, and no others',
  async (s) => {
    const queue = newId('queue');
    await fill(s, queue, 5);
    const first = await s.recoup.jobs.lease({ queue, count: 2, requestId: 'request 1', worker: 'one' });
    const other = await s.recoup.jobs.lease({ queue, count: 2, requestId: 'request 2', worker: 'two' });
    const before = await digest(s.db);
    for (const replica of [s.recoup, await s.replica()]) {
      expect(await replica.jobs.lease({ queue, count: 2, requestId: 'request 1', worker: 'one' })).toEqual(first);
      expect(await replica.jobs.lease({ queue, count: 5, requestId: 'request 2', worker: 'two' })).toEqual(other);
    }
    expect(await digest(s.db)).toBe(before);
    // In another queue it is another request.
    const elsewhere = await s.queued(0);
    const [there] = await s.recoup.jobs.lease({ queue: elsewhere.queue, requestId: 'request 1' });
    expect(there?.job.id).toBe(elsewhere.job);
    // What ended meanwhile is not given again, and nothing else in its place.
    await s.recoup.jobs.succeed({ wallet: first[0]!.job.wallet, job: first[0]!.job.id });
    await s.recoup.jobs.release({ wallet: first[1]!.job.wallet, job: first[1]!.job.id, attempt: 1 });
    expect(await s.recoup.jobs.lease({ queue, count: 2, requestId: 'request 1' })).toEqual([]);
    // An answer without jobs is not an answer to keep.
    const empty = newId('queue');
    expect(await s.recoup.jobs.lease({ queue: empty, requestId: 'request 3' })).toEqual([]);
    await fill(s, empty, 1);
    expect((await s.recoup.jobs.lease({ queue: empty, requestId: 'request 3' })).length).toBe(1);
  },
);

onEvery(
  'an attempt that was handed out twice: both may work, one success counts, the other changes nothing',
  async (s) => {
    for (const second of ['succeed', 'fail'] as const) {
      const { queue, ...key } = await s.queued(40);
      const lease = { queue, requestId: newId('request') };
      const [one, other] = [await s.recoup.jobs.lease(lease), await (await s.replica()).jobs.lease(lease)];
      expect(other).toEqual(one);
      const at = { ...key, attempt: one[0]!.job.attempt };
      expect(await answer(s.recoup.jobs.succeed({ ...at, result: 'first' }))).toBe('succeeded');
      const before = await digest(s.db);
      expect(await answer(s.recoup.jobs[second](at))).toBe(second === 'succeed' ? 'duplicate' : 'succeeded');
      expect(await digest(s.db)).toBe(before);
    }
  },
);

onEvery(
  'a lease asked for again while the first ask is on its way waits for it, also where nothing else is due',
  async (s) => {
    for (const end of ['commit', 'rollback'] as const) {
      const { queue } = await s.queued(40);
      const request = { queue, count: 5, requestId: newId('request') };
      const first = await s.client();
      await first.query('begin');
      const given = await s.recoup.using(first).jobs.lease(request);
      const applicationName = newId('second');
      const again = (await s.replica({ applicationName })).jobs.lease(request);
      expect(await settledOrWaiting(s.db, again, applicationName)).toBe('waiting');
      await first.query(end);
      const got = await again;
      expect(got.map(({ job }) => job.attempt)).toEqual([1]);
      if (end === 'commit') expect(got).toEqual(given);
    }
  },
);

onEvery('the same request id from two at once, and as many jobs as they ask for: both are given them', async (s) => {
  const other = await s.replica();
  for (let round = 0; round < 100; round++) {
    const { queue } = await s.queued(0);
    const request = { queue, requestId: newId('request') };
    const [one, two] = await Promise.all([s.recoup.jobs.lease(request), other.jobs.lease(request)]);
    expect(one).toHaveLength(1);
    expect(two).toEqual(one);
  }
});

onEvery('a claim passes over a job that somebody holds, and takes it when it is free', async (s) => {
  const queue = newId('queue');
  await fill(s, queue, 3);
  const holder = await s.client();
  await holder.query('begin');
  const { rows } = await holder.query(
    `select id from recoup.jobs where queue = $1 order by not_before limit 1 for update`,
    [queue],
  );
  const free = (await s.recoup.jobs.lease({ queue, count: 3 })).map(({ job }) => job.id);
  expect(free.length).toBe(2);
  expect(free).not.toContain(rows[0].id);
  await holder.query('commit');
  expect((await s.recoup.jobs.lease({ queue, count: 3 })).map(({ job }) => job.id)).toEqual([rows[0].id]);
});

onEvery('the same request id from many at once gives one set of jobs', async (s) => {
  const queue = newId('queue');
  await fill(s, queue, 60);
  const replicas = await Promise.all(times(4, () => s.replica()));
  const asks = times(20, (i) => replicas[i % 4]!.jobs.lease({ queue, count: 3, requestId: 'the one request' }));
  const ids = new Set((await Promise.all(asks)).map((leased) => leased.map(({ job }) => job.id).join()));
  expect([...ids].length).toBe(1);
  expect((await s.recoup.jobs.lease({ queue, count: 100 })).length).toBe(57);
});

onEvery(
  'a job that always fails runs as often as it may, with growing delays up to the cap, and then is a dead letter',
  async (s) => {
    const queue = newId('queue');
    await s.recoup.queues.configure(queue, { backoffBaseMs: 1000, backoffMaxMs: 5000, maxFailures: 6 });
    const job = await s.running(40, { queue });
    const nominal = [1000, 2000, 4000, 5000, 5000];
    for (const [i, limit] of nominal.entries()) {
      const now = await s.stopClock();
      const failed = await s.recoup.jobs.fail({ ...at(job), attempt: i + 1 });
      expect(failed).toMatchObject({ outcome: 'retrying', failures: i + 1, refunded: i === 0 });
      const delay = failed.notBefore!.getTime() - now;
      expect(delay).toBeGreaterThanOrEqual(limit / 2);
      expect(delay).toBeLessThanOrEqual(limit);
      expect(await s.lease(queue)).toBe(i + 2);
    }
    expect(await answer(s.recoup.jobs.fail({ ...at(job), attempt: 6 }))).toBe('dead');
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40']);
    // Nothing takes it from there by itself.
    await s.db.advance(86_400_000 * 400);
    await s.recoup.sweep();
    await s.recoup.jobs.prune({ olderThanMs: 0 });
    expect(await s.recoup.jobs.lease({ queue, count: 10 })).toEqual([]);
    expect(await stateOf(s, job)).toMatchObject({ state: 'dead', attempt: 6, failures: 6 });
  },
);

onEvery('a failure that is not retryable goes straight to the dead letters, refunded', async (s) => {
  for (const verdict of ['presumed', 'definitive'] as const) {
    const job = await s.running(40);
    const failed = await s.recoup.jobs.fail({ ...at(job), verdict, retryable: false, reason: 'bad input' });
    expect(failed).toMatchObject({ outcome: 'dead', state: 'dead', failures: 1, refunded: true, notBefore: null });
    expect(await stateOf(s, job)).toMatchObject({ verdict, reason: 'bad input' });
  }
});

onEvery(
  'a redriven dead letter runs on with the next attempt number, is charged nothing, and may die or succeed again',
  async (s) => {
    const job = await s.running(40, { maxFailures: 2 });
    const fail = async (attempt: number) => answer(s.recoup.jobs.fail({ ...at(job), attempt }));
    expect(await fail(1)).toBe('retrying');
    await s.lease(job.queue);
    expect(await fail(2)).toBe('dead');
    expect(await answer(s.recoup.jobs.deadLetters.redrive(key(job)))).toBe('redriven');
    expect(await answer(s.recoup.jobs.deadLetters.redrive(key(job)))).toBe('duplicate');
    expect(await stateOf(s, job)).toMatchObject({ state: 'queued', attempt: 2, failures: 0, deadAt: null });
    expect(await s.lease(job.queue)).toBe(3);
    expect(await fail(3)).toBe('retrying');
    await s.lease(job.queue);
    expect(await fail(4)).toBe('dead');
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40']);
    await s.recoup.jobs.deadLetters.discard(key(job));
    expect(await answer(s.recoup.jobs.deadLetters.redrive(key(job)))).toBe('redriven');
    expect(await s.lease(job.queue)).toBe(5);
    expect(await answer(s.recoup.jobs.succeed({ ...at(job), attempt: 5 }))).toBe('reclaimed');
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
    const ends = (await s.recoup.jobs.attempts(key(job))).map(({ attempt, endedAs }) => `${attempt} ${endedAs}`);
    expect(ends).toEqual(['1 failed', '2 failed', '3 failed', '4 failed', '5 succeeded']);
  },
);

onEvery('redrive of a filter: the preview says what it would do, and only what was seen is redriven', async (s) => {
  const [queue, wallet, poor] = [newId('queue'), await s.wallet(100), await s.wallet(10)];
  const die = async (w: string, job: string, price: number, reason: string) => {
    await s.recoup.jobs.submit({ wallet: w, job, queue, price });
    await s.lease(queue);
    await s.recoup.jobs.fail({ wallet: w, job, attempt: 1, retryable: false, reason });
  };
  for (const job of ['a', 'b']) await die(wallet, job, 10, 'upstream down');
  await die(poor, 'c', 10, 'upstream down');
  await die(wallet, 'd', 10, 'bad input');
  await s.recoup.jobs.submit({ wallet: poor, job: 'spent', queue: newId('queue'), price: 10 });
  const filter = { queue, reason: 'upstream down' };
  const before = await digest(s.db);
  const preview = await s.recoup.jobs.deadLetters.preview(filter);
  expect(preview).toMatchObject({ count: 3, mayReclaim: 30, walletsIntoDebt: 1 });
  const wrong = await refusal(s.recoup.jobs.deadLetters.redriveAll(filter, { confirm: 2 }));
  expect([wrong.code, wrong.details]).toEqual(['count_changed', { count: 3, confirm: 2 }]);
  expect(await digest(s.db)).toBe(before);
  await s.db.advance(1000);
  await die(wallet, 'e', 10, 'upstream down');
  const seen = { ...filter, asOf: preview.asOf };
  expect(await s.recoup.jobs.deadLetters.redriveAll(seen, { confirm: 3 })).toEqual({ redriven: 3, skipped: 0 });
  const left: string[] = [];
  for await (const { id } of s.recoup.jobs.deadLetters.list({ queue })) left.push(id);
  expect(left).toEqual(['d', 'e']);
});

onEvery('a released attempt counts no failure and refunds nothing; at the cap it is refused', async (s) => {
  const queue = newId('queue');
  await s.recoup.queues.configure(queue, { maxReleases: 2 });
  const job = await s.running(40, { queue });
  for (const attempt of [1, 2]) {
    const now = await s.stopClock();
    const released = await s.recoup.jobs.release({ ...at(job), attempt, delayMs: 5000 });
    expect(released.outcome).toBe('released');
    expect(released.notBefore!.getTime() - now).toBeGreaterThanOrEqual(5000);
    expect(await answer(s.recoup.jobs.release({ ...at(job), attempt }))).toBe('duplicate');
    expect(await stateOf(s, job)).toMatchObject({ state: 'queued', failures: 0, releases: attempt });
    expect(await s.lease(queue)).toBe(attempt + 1);
  }
  expect(await answer(s.recoup.jobs.release({ ...at(job), attempt: 1 }))).toBe('stale');
  const before = await digest(s.db);
  expect(await answer(s.recoup.jobs.release({ ...at(job), attempt: 3 }))).toBe('release_limit');
  expect(await digest(s.db)).toBe(before);
  expect(await ledger(s, job.wallet)).toEqual(['charge -40']);
});

onFirst('a failure without its attempt is refused where the job has a queue', async (s) => {
  const job = await s.running(40);
  const before = await digest(s.db);
  expect(await answer(s.recoup.jobs.fail(key(job)))).toBe('attempt_required');
  expect(await digest(s.db)).toBe(before);
});

onEvery('the books are right', booksAreRight);
