// Numbers of the queue: the back-off formula and its spread, Retry-After, settings that fit, what pruning leaves.
import { expect } from 'vitest';
import { answer, digest, ledger, refusal, stateOf, times } from './support/look.ts';
import { booksAreRight, newId, type Running, staging } from './support/stage.ts';
import { untilWaiting } from './support/waiting.ts';

const { onEvery, onFirst } = staging();
const at = ({ wallet, job, attempt }: Running) => ({ wallet, job, attempt });
const key = ({ wallet, job }: { wallet: string; job: string }) => ({ wallet, job });

onEvery('a thousand leases that lapse at once come back over at least half of the nominal delay', async (s) => {
  const [queue, wallet] = [newId('queue'), await s.wallet(1000)];
  await s.recoup.queues.configure(queue, { backoffBaseMs: 10_000, backoffMaxMs: 10_000 });
  await s.recoup.jobs.submitMany(times(1000, (i) => ({ wallet, job: `job ${i}`, queue, price: 1 })));
  for (let leased = 0; leased < 1000; ) leased += (await s.recoup.jobs.lease({ queue, count: 500 })).length;
  await s.db.advance(60_000);
  const now = await s.stopClock();
  expect(await s.recoup.sweep()).toMatchObject({ lapsed: 1000, failed: 0 });
  const rows = await s.db.query(
    `select (extract(epoch from not_before) * 1000)::float8 as at from recoup.jobs where queue = $1 order by 1`,
    [queue],
  );
  const delays = rows.map((row) => Number(row.at) - now);
  expect(delays[0]).toBeGreaterThanOrEqual(5000);
  expect(delays.at(-1)).toBeLessThanOrEqual(10_000);
  // Evenly: each tenth of the half holds its share, and no instant holds a crowd.
  for (let tenth = 0; tenth < 10; tenth++) {
    const share = delays.filter((delay) => delay >= 5000 + tenth * 500 && delay <= 5500 + tenth * 500).length;
    expect(share).toBeGreaterThan(50);
  }
  expect(new Set(delays).size).toBeGreaterThan(900);
});

onEvery('the delay never passes its cap, at any number of failures and any settings that are allowed', async (s) => {
  const rows = await s.db.query(`
    select base, max, failures, recoup.retry_delay_ms(base, max, failures, 'w', 'j', failures) as delay
    from unnest(array[0, 1, 5000, 31536000000]) base cross join unnest(array[1, 5000, 300000, 31536000000]) max
    cross join unnest(array[0, 1, 2, 30, 63, 64, 1000, 2000, 2147483646]) failures where base <= max`);
  for (const { base, max, failures, delay } of rows) {
    const nominal = Math.min(Number(base) * 2 ** Math.min(Math.max(Number(failures) - 1, 0), 100), Number(max));
    expect(Number(delay)).toBeGreaterThanOrEqual(nominal / 2);
    expect(Number(delay)).toBeLessThanOrEqual(nominal);
  }
  const job = await s.running(1, { maxFailures: 1_000_000 });
  await s.db.query(
    `update recoup.jobs set attempt = 1999, failures = 1998, state = 'queued', lease_until = null,
    not_before = recoup.clock() where wallet_id = $1`,
    [job.wallet],
  );
  await s.db.query(
    `insert into recoup.attempts (wallet_id, job_id, attempt, ended_as, job_state, ended_at)
    select $1, $2, n, 'released', 'queued', recoup.clock() from generate_series(1, 1999) n`,
    [job.wallet, job.job],
  );
  expect(await s.lease(job.queue)).toBe(2000);
  const now = await s.stopClock();
  const failed = await s.recoup.jobs.fail({ ...at(job), attempt: 2000 });
  expect(failed).toMatchObject({ outcome: 'retrying', failures: 1999 });
  const delay = failed.notBefore!.getTime() - now;
  expect([delay >= 150_000, delay <= 300_000]).toEqual([true, true]);
});

onEvery('Retry-After postpones the next run where it is later than the back-off, up to its cap', async (s) => {
  const queue = newId('queue');
  await s.recoup.queues.configure(queue, { backoffBaseMs: 1000, backoffMaxMs: 1000, retryAfterMaxMs: 60_000 });
  for (const [retryAfterMs, from, to] of [
    [0, 500, 1000],
    [1, 500, 1000],
    [30_000, 30_000, 30_000],
    [31_536_000_000, 60_000, 60_000],
  ] as const) {
    const job = await s.running(1, { queue });
    const now = await s.stopClock();
    const { notBefore } = await s.recoup.jobs.fail({ ...at(job), retryAfterMs });
    const delay = notBefore!.getTime() - now;
    expect([retryAfterMs, delay >= from, delay <= to]).toEqual([retryAfterMs, true, true]);
    await s.recoup.jobs.cancel(key(job));
  }
});

onEvery('settings that do not fit together are refused by name, and nothing is configured', async (s) => {
  const queue = newId('queue');
  const before = await digest(s.db);
  const bad = [
    [{ backoffBaseMs: 1000, maxFailures: 1 }, 'backoffBaseMs'],
    [{ backoffMaxMs: 1000, maxFailures: 1 }, 'backoffBaseMs'],
    [{ backoffBaseMs: 300_001 }, 'backoffBaseMs'],
    [{ backoffMaxMs: 4999 }, 'backoffBaseMs'],
    [{ backoffBaseMs: undefined, backoffMaxMs: 10 }, 'backoffBaseMs'],
    [{ refundOn: 'never' }, 'refundOn'],
    [{ leaseMs: 99 }, 'leaseMs'],
    [{ maxFailures: 0 }, 'maxFailures'],
    [{ maxReleases: -1 }, 'maxReleases'],
    [{ paused: 'yes' }, 'paused'],
    [{ backofBaseMs: 5 }, 'backofBaseMs'],
  ] as const;
  for (const [settings, field] of bad) {
    const refused = await refusal(s.recoup.queues.configure(queue, settings as object));
    expect([settings, refused.code, refused.details.field]).toEqual([settings, 'invalid', field]);
  }
  expect(await digest(s.db)).toBe(before);
});

onEvery('two people who configure a queue at once do not undo each other', async (s) => {
  const queue = newId('queue');
  await s.recoup.queues.configure(queue, { maxReleases: 7 });
  const other = await s.client();
  await other.query('begin');
  await other.query('update recoup.queues set paused = true where id = $1', [queue]);
  const [configured] = await Promise.all([
    s.recoup.queues.configure(queue, { maxFailures: 3 }),
    untilWaiting(s.db).then(() => other.query('commit')),
  ]);
  expect(configured).toMatchObject({ maxFailures: 3, maxReleases: 7, paused: true });
  expect(await s.recoup.queues.get(queue)).toEqual(configured);
});

onEvery('jobs keep the settings of their submit; a queue without its own has those of all', async (s) => {
  const queue = newId('queue');
  await s.recoup.queues.configure(queue, { maxFailures: 1, refundOn: 'final' });
  const job = await s.running(40, { queue });
  await s.recoup.queues.configure(queue, { maxFailures: 10, refundOn: 'failure' });
  expect(await stateOf(s, job)).toMatchObject({ maxFailures: 1, refundOn: 'final' });
  expect(await answer(s.recoup.jobs.fail(at(job)))).toBe('dead');
  const { maxFailures } = await s.recoup.queues.get('*');
  expect(await stateOf(s, await s.queued(1))).toMatchObject({ maxFailures, refundOn: 'failure' });
  expect(await stateOf(s, await s.queued(1, { maxFailures: 77 }))).toMatchObject({ maxFailures: 77 });
});

onEvery(
  'pruning takes only what ended well or was canceled, long ago: dead, discarded and failed jobs stay for ever',
  async (s) => {
    await s.db.advance(1000);
    await s.recoup.jobs.prune({ olderThanMs: 0 });
    const [done, canceled, dead, discarded] = [
      await s.running(40),
      await s.running(40),
      await s.running(40),
      await s.running(40),
    ];
    const failed = await s.external(40);
    const [queued, running] = [await s.queued(40), await s.running(40)];
    await s.recoup.jobs.fail(at(done));
    await s.recoup.jobs.succeed({ ...at(done), finalPrice: 30 });
    await s.recoup.jobs.cancel(key(canceled));
    for (const job of [dead, discarded]) await s.recoup.jobs.fail({ ...at(job), retryable: false });
    await s.recoup.jobs.deadLetters.discard(key(discarded));
    await s.recoup.jobs.fail(failed);
    await s.db.advance(1000);
    expect(await s.recoup.jobs.prune({ olderThanMs: 2000 })).toBe(0);
    await s.db.advance(86_400_000 * 3650);
    expect(await s.recoup.jobs.prune({ olderThanMs: 2000, count: 1 })).toBe(1);
    expect(await s.recoup.jobs.prune({ olderThanMs: 2000 })).toBe(1);
    for (const [job, state] of [
      [dead, 'dead'],
      [discarded, 'discarded'],
      [failed, 'failed'],
      [queued, 'queued'],
      [running, 'running'],
    ] as const) {
      expect(await stateOf(s, job)).toMatchObject({ state });
    }
    for (const gone of [done, canceled]) {
      expect(await answer(s.recoup.jobs.get(key(gone)))).toBe('no_job');
      expect(await s.recoup.jobs.attempts(key(gone))).toEqual([]);
    }
    expect(await ledger(s, done.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40', 'settle 10']);
  },
);

onEvery('every signal for a pruned job is answered pruned, and its id is never charged again', async (s) => {
  const job = await s.running(0);
  await s.recoup.jobs.succeed(at(job));
  await s.db.advance(1000);
  await s.recoup.jobs.prune({ olderThanMs: 0 });
  const before = await digest(s.db);
  const again = { wallet: job.wallet, job: job.job, queue: job.queue, price: 0 };
  expect(await answer(s.recoup.jobs.submit(again))).toBe('pruned');
  expect(await answer(s.recoup.jobs.submit({ ...again, queue: null, price: 5 }))).toBe('pruned');
  expect(await answer(s.recoup.jobs.succeed(at(job)))).toBe('pruned');
  expect(await answer(s.recoup.jobs.succeed({ ...at(job), finalPrice: 3 }))).toBe('pruned');
  for (const call of ['fail', 'extend', 'handOver', 'release'] as const)
    expect(await answer(s.recoup.jobs[call](at(job)))).toBe('pruned');
  expect(await answer(s.recoup.jobs.cancel(key(job)))).toBe('pruned');
  expect(await answer(s.recoup.jobs.settle({ ...key(job), finalPrice: 1 }))).toBe('pruned');
  for (const call of ['redrive', 'discard'] as const)
    expect(await answer(s.recoup.jobs.deadLetters[call](key(job)))).toBe('pruned');
  expect(await digest(s.db)).toBe(before);
});

onFirst('a signal for a job or wallet that never was is answered no_job, and nothing is written', async (s) => {
  const before = async (wallet: string) => {
    const unchanged = await digest(s.db);
    const job = { wallet, job: 'never was', attempt: 1 };
    for (const call of ['fail', 'extend', 'handOver', 'release', 'succeed'] as const)
      expect(await answer(s.recoup.jobs[call](job))).toBe('no_job');
    expect(await answer(s.recoup.jobs.succeed({ ...job, finalPrice: 1 }))).toBe('no_job');
    for (const keep of [{}, { keep: 1 }])
      expect(await answer(s.recoup.jobs.cancel({ ...key(job), ...keep }))).toBe('no_job');
    expect(await answer(s.recoup.jobs.settle({ ...key(job), finalPrice: 1 }))).toBe('no_job');
    for (const call of ['redrive', 'discard'] as const)
      expect(await answer(s.recoup.jobs.deadLetters[call](key(job)))).toBe('no_job');
    expect(await answer(s.recoup.jobs.get(key(job)))).toBe('no_job');
    expect(await digest(s.db)).toBe(unchanged);
  };
  await before(await s.wallet(10));
  await before(newId('nowhere'));
});

onEvery('the books are right', booksAreRight);
