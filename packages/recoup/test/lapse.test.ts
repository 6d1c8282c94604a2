// Time that runs out: leases and deadlines, sweeps on many replicas at once, and what arrives while they sweep.
import { expect } from 'vitest';
import { overQueryable } from '../src/db/database.ts';
import type { RawAnswer } from '../src/db/runner.ts';
import { transitions } from '../src/index.ts';
import { lapseJob } from '../src/jobs/lapse.ts';
import { answer, digest, ledger, stateOf, tally, times } from './support/look.ts';
import { booksAreRight, newId, type Running, type Stage, staging } from './support/stage.ts';
import { untilWaiting } from './support/waiting.ts';

const { onEvery, onFirst } = staging();
const at = ({ wallet, job, attempt }: Running) => ({ wallet, job, attempt });
const key = ({ wallet, job }: { wallet: string; job: string }) => ({ wallet, job });
const MAX = Number.MAX_SAFE_INTEGER;

/** Lets every lease and deadline pass that stands now. */
const pass = (s: Stage) => s.db.advance(3_600_001);

onEvery('four replicas sweep at the same instant: each lapsed lease is refunded and requeued once', async (s) => {
  const replicas = [s.recoup, await s.replica(), await s.replica(), await s.replica()];
  const outcomes: string[] = [];
  const watched = await Promise.all(
    times(4, () => s.replica({ onTransition: (name, outcome) => void outcomes.push(`${name} ${outcome}`) })),
  );
  for (let round = 0; round < 5; round++) {
    const [queue, wallet] = [newId('queue'), await s.wallet(1000)];
    await s.recoup.jobs.submitMany(times(25, (i) => ({ wallet, job: `job ${i}`, queue, price: 40 })));
    expect((await s.recoup.jobs.lease({ queue, count: 25 })).length).toBe(25);
    await pass(s);
    const swept = await Promise.all([...watched, ...replicas].map((replica) => replica.sweep()));
    expect(swept.reduce((sum, { lapsed }) => sum + lapsed, 0)).toBe(25);
    expect(swept.reduce((sum, { failed }) => sum + failed, 0)).toBe(0);
    const entries = await ledger(s, wallet);
    expect(tally(entries)).toEqual({ 'charge -40': 25, 'refund 40': 25 });
    const rows = await s.db.query(
      `select distinct state, failures, attempt, verdict, reason from recoup.jobs where queue = $1`,
      [queue],
    );
    expect(rows).toEqual([{ state: 'queued', failures: 1, attempt: 1, verdict: 'presumed', reason: 'lease lapsed' }]);
  }
  // Losing the race has a name of its own in the table; it is no error.
  const known: readonly string[] = transitions['job.lapse'].outcomes;
  expect(outcomes.filter((one) => !known.includes(one.replace('job.lapse ', '')))).toEqual([]);
  expect(s.complaints).toEqual([]);
});

onEvery('a lease that still stands, or was extended, does not lapse; at its very instant it does', async (s) => {
  await s.stopClock();
  const job = await s.running(40);
  const { leaseUntil } = await stateOf(s, job);
  await s.db.setClock(new Date(leaseUntil!.getTime() - 1));
  await s.recoup.sweep();
  expect(await stateOf(s, job)).toMatchObject({ state: 'running' });
  const extended = await s.recoup.jobs.extend({ ...at(job), leaseMs: 60_000, upstreamRef: 'ref' });
  expect(extended.leaseUntil!.getTime()).toBe(leaseUntil!.getTime() - 1 + 60_000);
  await s.db.setClock(leaseUntil!);
  await s.recoup.sweep();
  expect(await stateOf(s, job)).toMatchObject({ state: 'running', upstreamRef: 'ref' });
  await s.db.setClock(extended.leaseUntil!);
  await s.recoup.sweep();
  expect(await stateOf(s, job)).toMatchObject({ state: 'queued', failures: 1, verdict: 'presumed' });
  expect(await answer(s.recoup.jobs.extend(at(job)))).toBe('stale');
});

onEvery(
  'a worker learns at its next extend that the lease is gone; its failure is a duplicate, its success counts',
  async (s) => {
    const job = await s.running(40);
    await pass(s);
    await s.recoup.sweep();
    expect(await answer(s.recoup.jobs.extend(at(job)))).toBe('stale');
    expect(await answer(s.recoup.jobs.fail(at(job)))).toBe('duplicate');
    expect(await s.lease(job.queue)).toBe(2);
    expect(await answer(s.recoup.jobs.fail(at(job)))).toBe('stale');
    expect(await answer(s.recoup.jobs.succeed({ ...at(job), result: 'late' }))).toBe('reclaimed');
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
  },
);

onEvery('the last attempt that lapses makes a dead letter that holds nothing any more', async (s) => {
  const job = await s.running(40, { maxFailures: 1 });
  await pass(s);
  await s.recoup.sweep();
  const dead = await stateOf(s, job);
  expect(dead).toMatchObject({ state: 'dead', leaseUntil: null, notBefore: null, deadlineAt: null, failures: 1 });
  expect(await s.recoup.wallets.balance(job.wallet)).toMatchObject({ booked: 40, held: 0, atRisk: 40 });
});

onEvery(
  'a definitive failure that follows a presumed one kills the queued job: no second refund, no further run',
  async (s) => {
    for (const presumed of ['lapsed', 'failed'] as const) {
      const job = await s.running(40);
      if (presumed === 'failed') await s.recoup.jobs.fail(at(job));
      else {
        await pass(s);
        await s.recoup.sweep();
      }
      const known = await s.recoup.jobs.fail({
        ...at(job),
        verdict: 'definitive',
        retryable: false,
        reason: 'refused',
      });
      expect(known).toMatchObject({ outcome: 'dead', failures: 1, refunded: false });
      const before = await digest(s.db);
      expect(await answer(s.recoup.jobs.fail({ ...at(job), verdict: 'definitive', retryable: false }))).toBe(
        'duplicate',
      );
      expect(await digest(s.db)).toBe(before);
      await pass(s);
      expect(await s.recoup.jobs.lease({ queue: job.queue })).toEqual([]);
      expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40']);
      const ends = (await s.recoup.jobs.attempts(key(job))).map(({ endedAs, verdict }) => `${endedAs} ${verdict}`);
      expect(ends.sort()).toEqual([`${presumed} presumed`, 'rejected definitive']);
    }
  },
);

onEvery(
  'a definitive, retryable failure only confirms, one that is not retryable kills; once redriven, neither repeat does',
  async (s) => {
    const queue = newId('queue');
    await s.recoup.queues.configure(queue, { refundOn: 'final' });
    const job = await s.running(40, { queue });
    await s.recoup.jobs.fail(at(job));
    const { notBefore } = await stateOf(s, job);
    const confirmed = await s.recoup.jobs.fail({ ...at(job), verdict: 'definitive' });
    expect(confirmed).toMatchObject({ outcome: 'retrying', failures: 1, refunded: false, notBefore });
    expect(await answer(s.recoup.jobs.fail({ ...at(job), verdict: 'definitive' }))).toBe('duplicate');
    const rejected = { ...at(job), verdict: 'definitive', retryable: false } as const;
    expect(await answer(s.recoup.jobs.fail(rejected))).toBe('dead');
    expect(await answer(s.recoup.jobs.fail(rejected))).toBe('duplicate');
    await s.recoup.jobs.deadLetters.redrive(key(job));
    expect(await answer(s.recoup.jobs.fail(rejected))).toBe('duplicate');
    const ends = (await s.recoup.jobs.attempts(key(job))).map(({ endedAs }) => endedAs);
    expect(ends.sort()).toEqual(['confirmed', 'failed', 'rejected']);
    await s.recoup.jobs.cancel(key(job));
    const dies = await s.running(40, { queue });
    await s.recoup.jobs.fail(at(dies));
    const dead = await s.recoup.jobs.fail({ ...at(dies), verdict: 'definitive', retryable: false });
    expect(dead).toMatchObject({ outcome: 'dead', refunded: true });
    expect(await ledger(s, dies.wallet)).toEqual(['charge -40', 'refund 40']);
  },
);

onEvery(
  'a job handed over waits without a lease; its deadline refunds and retries it, its callback an hour later counts',
  async (s) => {
    const job = await s.running(40);
    expect(await answer(s.recoup.jobs.handOver({ ...at(job), deadlineMs: 60_000, upstreamRef: 'ref 1' }))).toBe(
      'handed_over',
    );
    expect(await answer(s.recoup.jobs.handOver({ ...at(job), deadlineMs: 90_000 }))).toBe('duplicate');
    for (const call of ['extend', 'release'] as const) expect(await answer(s.recoup.jobs[call](at(job)))).toBe('stale');
    await s.db.advance(59_000);
    await s.recoup.sweep();
    expect(await stateOf(s, job)).toMatchObject({ state: 'waiting', leaseUntil: null, worker: 'tester' });
    await s.db.advance(1000);
    await s.recoup.sweep();
    expect(await stateOf(s, job)).toMatchObject({ state: 'queued', reason: 'deadline passed', verdict: 'presumed' });
    const found = await s.recoup.jobs.byUpstreamRef('ref 1');
    expect(found.map((one) => [one.job.id, one.attempt])).toEqual([[job.job, 1]]);
    await s.db.advance(3_600_000);
    expect(await answer(s.recoup.jobs.succeed(at(job)))).toBe('reclaimed');
    expect(await answer(s.recoup.jobs.succeed(at(job)))).toBe('duplicate');
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
  },
);

onEvery(
  'a job without a queue whose deadline passes has failed and is refunded; without a deadline it waits for ever',
  async (s) => {
    const [job, patient] = [await s.external(40, { deadlineMs: 60_000, upstreamRef: 'ref 2' }), await s.external(40)];
    await pass(s);
    await s.recoup.sweep();
    expect(await stateOf(s, job)).toMatchObject({ state: 'failed', failures: 1, deadlineAt: null });
    expect(await stateOf(s, patient)).toMatchObject({ state: 'waiting' });
    expect(await answer(s.recoup.jobs.fail(job))).toBe('duplicate');
    expect(await answer(s.recoup.jobs.succeed(job))).toBe('reclaimed');
    expect(await answer(s.recoup.jobs.succeed(job))).toBe('duplicate');
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
  },
);

onEvery(
  'a definitive failure of an attempt that was released counts, whatever an earlier attempt had come to',
  async (s) => {
    const job = await s.running(40);
    await s.recoup.jobs.fail({ ...at(job), verdict: 'definitive' });
    const second = { ...job, attempt: await s.lease(job.queue) };
    await s.recoup.jobs.release(at(second));
    expect(await answer(s.recoup.jobs.fail({ ...at(second), verdict: 'definitive' }))).toBe('retrying');
    expect(await stateOf(s, job)).toMatchObject({ state: 'queued', attempt: 2, failures: 2 });
  },
);

onEvery('one row that cannot be handled is reported and holds up none of the others', async (s) => {
  const before = s.complaints.length;
  const [queue, wallet] = [newId('queue'), await s.wallet(1000)];
  await s.recoup.jobs.submitMany(times(20, (i) => ({ wallet, job: `job ${i}`, queue, price: 1 })));
  await s.recoup.jobs.lease({ queue, count: 20 });
  const poisoned = await s.running(40);
  await s.recoup.wallets.adjust({ wallet: poisoned.wallet, key: 'fill', amount: MAX });
  await pass(s);
  for (let sweep = 1; sweep <= 2; sweep++) {
    const swept = await s.recoup.sweep();
    expect(swept).toMatchObject({ failed: 1 });
    expect(s.complaints.length - before).toBe(sweep);
    expect(s.complaints.at(-1)!.message).toContain(poisoned.job);
  }
  expect(tally(await ledger(s, wallet))).toEqual({ 'charge -1': 20, 'refund 1': 20 });
  expect(await stateOf(s, poisoned)).toMatchObject({ state: 'running' });
  await s.recoup.wallets.adjust({ wallet: poisoned.wallet, key: 'free', amount: -MAX });
  expect(await s.recoup.sweep()).toMatchObject({ lapsed: 1, failed: 0 });
  s.complaints.length = 0;
});

onEvery('a held wallet is passed over by the sweep and swept the next time', async (s) => {
  const [held, free] = [await s.running(40), await s.running(40)];
  await pass(s);
  const holder = await s.client();
  await holder.query('begin');
  await holder.query('select from recoup.wallets where id = $1 for update', [held.wallet]);
  expect(await s.recoup.sweep()).toMatchObject({ failed: 0 });
  expect(await stateOf(s, free)).toMatchObject({ state: 'queued' });
  expect(await stateOf(s, held)).toMatchObject({ state: 'running' });
  await holder.query('commit');
  expect(await s.recoup.sweep()).toMatchObject({ lapsed: 1 });
  expect(await stateOf(s, held)).toMatchObject({ state: 'queued' });
});

onEvery('a job that ends between the read and the write of a sweep stays as it ended', async (s) => {
  const endings = {
    succeed: (job: Running) => s.recoup.jobs.succeed(at(job)),
    extend: (job: Running) => s.recoup.jobs.extend({ ...at(job), leaseMs: 86_400_000 }),
    cancel: (job: Running) => s.recoup.jobs.cancel(key(job)),
    fail: (job: Running) => s.recoup.jobs.fail(at(job)),
    release: (job: Running) => s.recoup.jobs.release(at(job)),
    'hand over': (job: Running) => s.recoup.jobs.handOver({ ...at(job), deadlineMs: 86_400_000 }),
    'lapse twice': async (job: Running & { queue: string }) => {
      await s.recoup.jobs.fail(at(job));
      await s.lease(job.queue);
      await pass(s);
    },
  };
  for (const [name, ending] of Object.entries(endings)) {
    const job = await s.running(40);
    await pass(s);
    // The sweep has read this candidate; now the job ends.
    await ending(job);
    const before = await digest(s.db);
    const client = await s.client();
    const candidate = [{ wallet_id: job.wallet, id: job.job, n: job.attempt }];
    const [lapsed] = await overQueryable(client, 'recoup').run<RawAnswer>(lapseJob, JSON.stringify(candidate));
    expect([name, lapsed!.outcome]).not.toEqual([name, 'retrying']);
    expect([name, await digest(s.db)]).toEqual([name, before]);
  }
});

onEvery(
  'a lease that lapses while its success is on its way: one outcome, whichever commits first, and the other is answered',
  async (s) => {
    for (const first of ['lapse', 'succeed'] as const) {
      const job = await s.running(40);
      await pass(s);
      const [one, other] = [await s.client(), await s.client()];
      const lapse = async () => {
        const candidate = JSON.stringify([{ wallet_id: job.wallet, id: job.job, n: 1 }]);
        const [lapsed] = await overQueryable(one, 'recoup').run<RawAnswer>(lapseJob, candidate);
        return lapsed!.outcome;
      };
      const succeed = () => answer(s.recoup.using(other).jobs.succeed(at(job)));
      const [holder, leads, follows] =
        first === 'lapse' ? ([one, lapse, succeed] as const) : ([other, succeed, lapse] as const);
      await holder.query('begin');
      const led = await leads();
      const following = follows();
      await untilWaiting(s.db);
      await holder.query('commit');
      const expected = first === 'lapse' ? ['retrying', 'reclaimed'] : ['succeeded', 'succeeded'];
      expect([led, await following].map((one) => (one === 'again' ? 'succeeded' : one))).toEqual(expected);
      expect((await ledger(s, job.wallet)).length).toBe(first === 'lapse' ? 3 : 1);
    }
  },
);

onFirst('a sweep does not care whether this replica has a handler for the queue', async (s) => {
  const [known, unknown] = [await s.running(40), await s.running(40)];
  const replica = await s.replica();
  const worker = replica.work(known.queue, async () => 'done');
  await pass(s);
  await replica.sweep();
  expect(await stateOf(s, unknown)).toMatchObject({ state: 'queued', failures: 1 });
  await worker.stop();
});

onEvery('the books are right', booksAreRight);
