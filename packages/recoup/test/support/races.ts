// Races: of many callers at the same moment one wins, and the others are told so. Over whatever the callers are connected by.
import { expect } from 'vitest';
import type { OpenOptions, Recoup } from '../../src/index.ts';
import { Crowd } from './crowd.ts';
import { answer, balance, entriesOf, ledger, named, stateOf, tally, times } from './look.ts';
import { booksAreRight, newId, type Running, type Stage, servers } from './stage.ts';

const at = ({ wallet, job, attempt }: Running) => ({ wallet, job, attempt });
const ROUNDS = 5;

/** The tests, registered by `onEvery`; `over` says how callers reach the database of a stage. */
export function races(
  onEvery: (name: string, body: (s: Stage) => Promise<void>) => void,
  over: (s: Stage) => Promise<Partial<OpenOptions>>,
): void {
  const crowds = new Map<Stage, Promise<Crowd>>();
  const crowdOn = (s: Stage): Promise<Crowd> => {
    const crowd = crowds.get(s) ?? over(s).then((options) => Crowd.on(s, options));
    crowds.set(s, crowd);
    return crowd;
  };

  onEvery('of 50 failure reports of one attempt one refunds and requeues, the others are duplicates', async (s) => {
    const crowd = await crowdOn(s);
    for (let round = 0; round < ROUNDS; round++) {
      const job = await s.running(40);
      const answers = await crowd.all(50, ({ jobs }, i) => jobs.fail({ ...at(job), reason: `report ${i}` }));
      expect(tally(answers)).toEqual({ retrying: 1, duplicate: 49 });
      expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40']);
      expect(await stateOf(s, job)).toMatchObject({ state: 'queued', failures: 1, attempt: 1 });
    }
  });

  onEvery(
    'a time-out and an error callback of one attempt at once: one refund, one requeue or one dead letter',
    async (s) => {
      const crowd = await crowdOn(s);
      for (let round = 0; round < ROUNDS; round++) {
        const job = await s.running(40);
        const reports = [{}, { verdict: 'definitive', retryable: false }] as const;
        const answers = await crowd.all(50, ({ jobs }, i) => jobs.fail({ ...at(job), ...reports[i % 2] }));
        // The definitive one may come second: then it upgrades, and the job dies without another refund.
        const { retrying = 0, dead, duplicate } = tally(answers);
        expect([dead, retrying + duplicate!]).toEqual([1, 49]);
        expect(retrying).toBeLessThan(2);
        expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40']);
        expect(await stateOf(s, job)).toMatchObject({ state: 'dead', failures: 1, verdict: 'definitive' });
      }
    },
  );

  onEvery('of 200 success reports of one refunded job one reclaims, the others are duplicates of it', async (s) => {
    const crowd = await crowdOn(s);
    const job = await s.running(40);
    await s.recoup.jobs.fail(at(job));
    const answers = await crowd.all(200, ({ jobs }, i) => jobs.succeed({ ...at(job), result: i }));
    expect(tally(answers)).toEqual({ reclaimed: 1, duplicate: 199 });
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
  });

  onEvery(
    'failures and successes of one attempt at the same moment: the success counts, the money is the price',
    async (s) => {
      const crowd = await crowdOn(s);
      for (let round = 0; round < ROUNDS * 2; round++) {
        const job = await s.running(40);
        const answers = await crowd.all(50, ({ jobs }, i) => (i % 4 < 2 ? jobs.fail(at(job)) : jobs.succeed(at(job))));
        const { retrying = 0, reclaimed = 0, succeeded = 0 } = tally(answers);
        expect(retrying).toBe(reclaimed);
        const entries = retrying ? ['charge -40', 'refund 40', 'reclaim -40'] : ['charge -40'];
        expect(await ledger(s, job.wallet)).toEqual(entries);
        expect(reclaimed + succeeded).toBeGreaterThan(0);
        expect(await stateOf(s, job)).toMatchObject({ state: 'succeeded' });
      }
    },
  );

  onEvery('a cancel and a success at the same moment: one of them wins, and the loser is told', async (s) => {
    const crowd = await crowdOn(s);
    for (let round = 0; round < ROUNDS * 2; round++) {
      const job = await s.running(40);
      const { wallet } = job;
      const answers = await crowd.all(50, ({ jobs }, i) =>
        i % 4 < 2 ? jobs.cancel({ wallet, job: job.job, keep: 12 }) : jobs.succeed(at(job)),
      );
      const { state } = await stateOf(s, job);
      const won = state === 'canceled';
      // 26 cancels, 24 successes. The loser's answer has the name of the winner's outcome.
      expect(tally(answers)).toEqual(won ? { canceled: 25, duplicate: 25 } : { succeeded: 27, duplicate: 23 });
      expect(await ledger(s, wallet)).toEqual(won ? ['charge -40', 'refund 40', 'settle -12'] : ['charge -40']);
    }
  });

  onEvery('a balance of 1 pays one of 200 submits of price 1', async (s) => {
    const crowd = await crowdOn(s);
    const wallet = await s.wallet(1);
    const answers = await crowd.all(200, ({ jobs }, i) =>
      jobs.submit({ wallet, job: `job ${i}`, queue: 'many', price: 1 }),
    );
    expect(tally(answers)).toEqual({ charged: 1, insufficient_credits: 199 });
    expect(await ledger(s, wallet)).toEqual(['charge -1']);
  });

  onEvery('a balance of 500 pays six of 20 submits of 75, an overdraft limit of 100 one more', async (s) => {
    const crowd = await crowdOn(s);
    for (const [overdraft, charged, left] of [
      [0, 6, 50],
      [100, 8, -100],
      [99, 7, -25],
    ] as const) {
      const wallet = await s.wallet(500, overdraft);
      const answers = await crowd.all(20, ({ jobs }, i) =>
        jobs.submit({ wallet, job: `job ${i}`, queue: 'many', price: 75 }),
      );
      expect(tally(answers)).toEqual({ charged, insufficient_credits: 20 - charged });
      expect(await balance(s, wallet)).toBe(left);
    }
  });

  onEvery('the same job submitted by 50 callers at once is charged once, and all get the same job back', async (s) => {
    const crowd = await crowdOn(s);
    for (let round = 0; round < ROUNDS; round++) {
      const submit = { wallet: await s.wallet(100), job: 'wanted', queue: 'many', price: 40, payload: { a: 1 } };
      const got = await Promise.all(times(50, (i) => crowd.one(i, ({ jobs }) => jobs.submit(submit))));
      expect(tally(got.map(named))).toEqual({ charged: 1, duplicate: 49 });
      for (const one of got) expect({ ...one, outcome: '' }).toEqual({ ...got[0], outcome: '' });
      expect(await ledger(s, submit.wallet)).toEqual(['charge -40']);
    }
  });

  onEvery(
    'the same grant from 50 callers is one entry, and all get it; then another amount is a conflict',
    async (s) => {
      const crowd = await crowdOn(s);
      const wallet = await s.wallet();
      for (const call of ['grant', 'adjust'] as const) {
        const entry = { wallet, key: `the same ${call}`, amount: 70 };
        const send = (amount: number) => (i: number) =>
          crowd.one<Awaited<ReturnType<Recoup['wallets']['grant' | 'adjust']>>>(i, ({ wallets }) =>
            wallets[call]({ ...entry, amount }),
          );
        const got = await Promise.all(times(50, send(70)));
        expect(tally(got.map(named))).toEqual({ [call === 'grant' ? 'granted' : 'adjusted']: 1, duplicate: 49 });
        for (const one of got) expect({ ...one, outcome: '' }).toEqual({ ...got[0], outcome: '' });
        const other = await Promise.all(times(10, (i) => answer(send(71)(i))));
        expect(tally(other)).toEqual({ conflict: 10 });
      }
      expect(await ledger(s, wallet)).toEqual(['grant 70', 'adjust 70']);
    },
  );

  onEvery(
    'a wallet opened by 50 callers at once is opened once; other settings are a conflict for the losers',
    async (s) => {
      const crowd = await crowdOn(s);
      const open = { wallet: newId('wallet'), customer: 'one' };
      expect(tally(await crowd.all(50, ({ wallets }) => wallets.open(open)))).toEqual({ opened: 1, duplicate: 49 });
      const other = newId('wallet');
      const answers = await crowd.all(50, ({ wallets }, i) =>
        wallets.open({ wallet: other, customer: `customer ${i}` }),
      );
      expect(tally(answers)).toEqual({ opened: 1, conflict: 49 });
    },
  );

  onEvery('64 callers work on one wallet without an error; numbers have no gap and instants never fall', async (s) => {
    const crowd = await crowdOn(s);
    const wallet = await s.wallet(1_000_000);
    const answers = await crowd.all(64, async (recoup, i) => {
      const job = { wallet, job: `job ${i}`, queue: null, price: 10 };
      await recoup.jobs.submit(job);
      await recoup.wallets.grant({ wallet, key: `grant ${i}`, amount: 1 });
      await recoup.jobs.fail({ wallet, job: job.job });
      return recoup.jobs.succeed({ wallet, job: job.job, finalPrice: 7 });
    });
    expect(tally(answers)).toEqual({ reclaimed: 64 });
    expect(await balance(s, wallet)).toBe(1_000_000 + 64 - 64 * 7);
    const entries = await entriesOf(s, wallet);
    expect(entries.map(({ seq }) => seq)).toEqual(times(1 + 64 * 5, (i) => i + 1));
    for (const [i, { createdAt }] of entries.entries())
      expect(createdAt >= (entries[i - 1]?.createdAt ?? createdAt)).toBe(true);
  });

  onEvery(
    'two callers send hundreds of batches over the same wallets in opposite order: no deadlock reaches them',
    async (s) => {
      const wallets = await Promise.all(times(12, () => s.wallet(1_000_000)));
      const rounds = s.server === servers[0] ? 250 : 50;
      const send = async (recoup: Recoup, caller: string, order: readonly string[]) => {
        for (let round = 0; round < rounds; round++) {
          const batch = order.map((wallet) => ({ wallet, job: `${caller} ${round}`, queue: null, price: 1 }));
          const keys = batch.map(({ wallet, job }) => ({ wallet, job }));
          // Alternately shared batches and transactions that lock many wallets and wait.
          const run =
            round % 2 === 0 ? recoup.transaction.bind(recoup) : (fn: (r: Recoup) => Promise<string[]>) => fn(recoup);
          const answers = await run(async ({ jobs }: Pick<Recoup, 'jobs'>) => [
            ...(await jobs.submitMany(batch)).map(named),
            ...(await jobs.failMany(keys)).map(named),
          ]);
          expect(tally(answers)).toEqual({ charged: 12, refunded: 12 });
        }
      };
      const options = await over(s);
      const [one, other] = [await s.replica(options), await s.replica(options)];
      await Promise.all([send(one, 'one', wallets), send(other, 'other', wallets.toReversed())]);
      for (const wallet of wallets) expect(await balance(s, wallet)).toBe(1_000_000);
    },
  );

  onEvery('a grant and the submits that wait for it: nothing is lost between them', async (s) => {
    const crowd = await crowdOn(s);
    const wallet = await s.wallet();
    const answers = await crowd.all(100, (recoup, i) =>
      i % 2 === 0
        ? recoup.wallets.grant({ wallet, key: `key ${i}`, amount: 1 })
        : recoup.jobs.submit({ wallet, job: `job ${i}`, queue: null, price: 1 }),
    );
    const { granted, charged = 0, insufficient_credits: refused = 0 } = tally(answers);
    expect([granted, charged + refused]).toEqual([50, 50]);
    expect(await balance(s, wallet)).toBe(50 - charged);
    // Refused ids are free: all of them fit now.
    for (let i = 1; i < 100; i += 2)
      await answer(s.recoup.jobs.submit({ wallet, job: `job ${i}`, queue: null, price: 1 }));
    expect(await balance(s, wallet)).toBe(0);
  });

  onEvery('the books are right', booksAreRight);
}
