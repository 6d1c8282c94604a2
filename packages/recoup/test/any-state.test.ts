// Whatever state a job is in: a success counts once, a repeated submit is the same job, and a report twice is a report once.
import { expect } from 'vitest';
import type { Recoup } from '../src/index.ts';
import { Crowd } from './support/crowd.ts';
import { answer, digest, ledger, refusal, stateOf, tally } from './support/look.ts';
import { booksAreRight, newId, type Running, staging } from './support/stage.ts';
import { inEveryState } from './support/states.ts';

const { onEvery } = staging();
const at = ({ wallet, job, attempt }: Running) => ({ wallet, job, attempt });
const key = ({ wallet, job }: Running) => ({ wallet, job });

onEvery(
  'of 100 success reports at once, for a job in any state, one counts and takes back what was refunded',
  async (s) => {
    const crowd = await Crowd.on(s);
    for (const [name, place] of inEveryState) {
      const job = await place(s);
      const before = await stateOf(s, job);
      const booked = await ledger(s, job.wallet);
      const answers = await crowd.all(100, ({ jobs }, i) =>
        jobs.succeed({ ...(i % 3 ? at(job) : key(job)), result: i }),
      );
      const over = { succeeded: 'duplicate', canceled: 'canceled' }[before.state as string];
      const first = before.refundedAt === null ? 'succeeded' : 'reclaimed';
      expect([name, tally(answers)]).toEqual([name, over ? { [over]: 100 } : { [first]: 1, duplicate: 99 }]);
      const reclaim = !over && before.refundedAt !== null ? ['reclaim -40'] : [];
      expect([name, await ledger(s, job.wallet)]).toEqual([name, [...booked, ...reclaim]]);
      const after = await stateOf(s, job);
      expect([name, after.state]).toEqual([name, before.state === 'canceled' ? 'canceled' : 'succeeded']);
    }
  },
);

onEvery(
  'a submit that is repeated, in any state of its job, is a duplicate, and a conflict where it differs',
  async (s) => {
    for (const [name, place] of inEveryState) {
      const { submit, wallet } = await place(s);
      const before = await digest(s.db);
      const { payload, queue, ...rest } = submit;
      const same = { ...rest, queue, payload: { list: [1, { deep: null }], of: name } };
      const others = {
        price: { ...submit, price: 41 },
        queue: { ...submit, queue: queue === null ? newId('queue') : null },
        payload: { ...submit, payload: { of: name } },
      };
      for (const run of [
        (input: typeof same) => s.recoup.jobs.submit(input),
        (input: typeof same) => s.recoup.transaction(({ jobs }) => jobs.submit(input)),
      ]) {
        expect(await run(same)).toMatchObject({ outcome: 'duplicate', seq: 2, balance: 0 });
        for (const [field, other] of Object.entries(others)) {
          const { code, details } = await refusal(run(other as typeof same));
          expect([name, code, details.differs]).toEqual([name, 'conflict', [field]]);
        }
      }
      const inOne = await s.recoup.jobs.submitMany([same, others.price, others.queue, others.payload, same]);
      expect([name, inOne.map((one) => ('outcome' in one ? one.outcome : one.code))]).toEqual([
        name,
        ['duplicate', 'conflict', 'conflict', 'conflict', 'duplicate'],
      ]);
      expect([name, await digest(s.db)]).toEqual([name, before]);
      expect((await ledger(s, wallet))[0]).toBe('charge -40');
    }
  },
);

type Report = (recoup: Recoup, job: Running) => Promise<unknown>;
const REPORTS: Readonly<Record<string, Report>> = {
  succeeded: ({ jobs }, job) => jobs.succeed({ ...at(job), finalPrice: 30, result: 'done' }),
  failed: ({ jobs }, job) => jobs.fail({ ...at(job), reason: 'failed' }),
  'failed for good': ({ jobs }, job) => jobs.fail({ ...at(job), verdict: 'definitive', retryable: false }),
  released: ({ jobs }, job) => jobs.release(at(job)),
  'handed over': ({ jobs }, job) => jobs.handOver({ ...at(job), upstreamRef: 'ref' }),
};

onEvery('one delivery in the hands of two workers: what the second reports again changes nothing', async (s) => {
  const other = await s.replica();
  await s.stopClock();
  for (const [name, report] of Object.entries(REPORTS)) {
    const { queue } = await s.queued(40);
    const request = { queue, requestId: newId('request') };
    const [[one], [two]] = await Promise.all([s.recoup.jobs.lease(request), other.jobs.lease(request)]);
    expect(two).toEqual(one);
    const { wallet, id, attempt } = one!.job;
    const job = { wallet, job: id, attempt };
    await report(s.recoup, job);
    const before = await digest(s.db);
    expect([name, await answer(report(other, job))]).toEqual([name, 'duplicate']);
    expect([name, await digest(s.db)]).toEqual([name, before]);
  }
});

onEvery('one delivery in the hands of two workers that report at once, the same or not: one settlement', async (s) => {
  const other = await s.replica();
  const names = Object.keys(REPORTS);
  for (const [first, second] of names.flatMap((a) => names.map((b) => [a, b] as const))) {
    const job = await s.running(40);
    const reports = [REPORTS[first]!(s.recoup, job), REPORTS[second]!(other, job)];
    const answers = await Promise.all(reports.map((report) => answer(report)));
    const { state, failures } = await stateOf(s, job);
    const entries = await ledger(s, job.wallet);
    const pair = `${first}, ${second}: ${answers}`;
    const done = [first, second].includes('succeeded');
    expect([pair, state === 'succeeded']).toEqual([pair, done]);
    const taken = entries.reduce((sum, entry) => sum - Number(entry.split(' ')[1]), 0);
    const refunded = entries.includes('refund 40');
    expect([pair, taken]).toEqual([pair, done ? 30 : refunded ? 0 : 40]);
    expect([pair, failures]).toEqual([pair, refunded ? 1 : 0]);
    expect([pair, new Set(entries).size]).toEqual([pair, entries.length]);
  }
});

onEvery('the books are right', booksAreRight);
