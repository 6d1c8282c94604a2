// Sweeps beside the reports they race with: each lease has one end, whichever commits first, and both sides are told.
import { expect } from 'vitest';
import { answer, ledger, stateOf, tally, times } from './support/look.ts';
import { booksAreRight, newId, type Running, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const at = ({ wallet, job, attempt }: Running) => ({ wallet, job, attempt });
const pass = (s: Stage) => s.db.advance(3_600_000);

/** Jobs in their first attempt, of a few wallets, whose leases have lapsed. */
async function lapsed(s: Stage, count: number): Promise<Running[]> {
  const queue = newId('queue');
  const wallets = await Promise.all(times(10, () => s.wallet(1000)));
  const jobs = times(count, (i) => ({ wallet: wallets[i % 10]!, job: newId('job'), queue, price: 10 }));
  await s.recoup.jobs.submitMany(jobs);
  expect(await s.recoup.jobs.lease({ queue, count })).toHaveLength(count);
  await pass(s);
  return jobs.map(({ wallet, job }) => ({ wallet, job, attempt: 1 }));
}

onEvery('a sweep passes over a job whose report is on its way, and what commits decides', async (s) => {
  const reports = {
    succeed: { ended: 'succeeded', entries: ['charge -40'] },
    fail: { ended: 'queued', entries: ['charge -40', 'refund 40'] },
    release: { ended: 'queued', entries: ['charge -40'] },
  } as const;
  for (const [report, { ended, entries }] of Object.entries(reports)) {
    for (const end of ['commit', 'rollback'] as const) {
      const job = await s.running(40);
      await pass(s);
      const client = await s.client();
      await client.query('begin');
      await s.recoup.using(client).jobs[report as keyof typeof reports](at(job));
      expect([report, end, await s.recoup.sweep()]).toMatchObject([report, end, { lapsed: 0, failed: 0 }]);
      await client.query(end);
      const left = end === 'rollback' ? 1 : 0;
      expect([report, end, await s.recoup.sweep()]).toMatchObject([report, end, { lapsed: left, failed: 0 }]);
      const swept = ['charge -40', 'refund 40'];
      expect([report, end, await ledger(s, job.wallet)]).toEqual([report, end, left ? swept : entries]);
      expect([report, end, (await stateOf(s, job)).state]).toEqual([report, end, left ? 'queued' : ended]);
    }
  }
});

onEvery('four replicas sweep while the successes arrive: each counts, with a reclaim for every lapse', async (s) => {
  const replicas = await Promise.all(times(4, () => s.replica()));
  for (let round = 0; round < 5; round++) {
    const jobs = await lapsed(s, 80);
    const sweeps = replicas.map((replica) => replica.sweep());
    const answers = await Promise.all(jobs.map((job, i) => answer(replicas[i % 4]!.jobs.succeed(at(job)))));
    const swept = (await Promise.all(sweeps)).reduce((sum, one) => sum + one.lapsed, 0);
    const { succeeded = 0, reclaimed = 0 } = tally(answers);
    expect([succeeded + reclaimed, reclaimed]).toEqual([80, swept]);
    for (const [i, job] of jobs.entries()) {
      const entries = (await s.recoup.wallets.entriesOf(job.wallet, job.job)).map(({ type }) => type);
      expect(entries).toEqual(answers[i] === 'reclaimed' ? ['charge', 'refund', 'reclaim'] : ['charge']);
    }
  }
  expect(s.complaints).toEqual([]);
});

onEvery('four replicas sweep while the failures arrive: each is counted and refunded once', async (s) => {
  const replicas = await Promise.all(times(4, () => s.replica()));
  for (let round = 0; round < 5; round++) {
    const jobs = await lapsed(s, 80);
    const sweeps = replicas.map((replica) => replica.sweep());
    const answers = await Promise.all(jobs.map((job, i) => answer(replicas[i % 4]!.jobs.fail(at(job)))));
    const swept = (await Promise.all(sweeps)).reduce((sum, one) => sum + one.lapsed, 0);
    const { retrying = 0, duplicate = 0 } = tally(answers);
    expect([retrying + duplicate, duplicate]).toEqual([80, swept]);
    for (const job of jobs) {
      expect(await stateOf(s, job)).toMatchObject({ state: 'queued', failures: 1 });
      const entries = (await s.recoup.wallets.entriesOf(job.wallet, job.job)).map(({ type }) => type);
      expect(entries).toEqual(['charge', 'refund']);
    }
  }
  expect(s.complaints).toEqual([]);
});

onEvery('the books are right', booksAreRight);
