// What a job is worth in the end: cancels with a kept part, final prices that come along, later, twice, or too late.
import { expect } from 'vitest';
import type { InTransaction } from '../src/index.ts';
import { answer, balance, digest, ledger, named, refusal, stateOf } from './support/look.ts';
import { booksAreRight, newId, type Running, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();
const at = ({ wallet, job, attempt }: Running) => ({ wallet, job, attempt });
const key = ({ wallet, job }: { wallet: string; job: string }) => ({ wallet, job });
const MAX = Number.MAX_SAFE_INTEGER;

onEvery('a final price settles the difference to the price, up or down, also into debt', async (s) => {
  for (const [finalPrice, settled, left] of [
    [40, 60, 60],
    [130, -30, -30],
    [100, 0, 0],
    [0, 100, 100],
  ] as const) {
    const job = await s.running(100);
    expect(await s.recoup.jobs.succeed({ ...at(job), finalPrice })).toMatchObject({ outcome: 'succeeded', finalPrice });
    expect(await ledger(s, job.wallet)).toEqual(['charge -100', `settle ${settled}`]);
    expect(await balance(s, job.wallet)).toBe(left);
    expect(await stateOf(s, job)).toMatchObject({ state: 'succeeded', finalPrice });
  }
});

onEvery(
  'a final price that comes after the success settles once; a repeat is a duplicate, another price a conflict',
  async (s) => {
    const job = await s.running(100);
    expect(await answer(s.recoup.jobs.settle({ ...key(job), finalPrice: 70 }))).toBe('not_ended');
    await s.recoup.jobs.succeed(at(job));
    await s.db.advance(60_000);
    expect(await s.recoup.jobs.settle({ ...key(job), finalPrice: 70 })).toEqual({
      outcome: 'settled',
      finalPrice: 70,
      amount: 30,
    });
    const before = await digest(s.db);
    expect(await s.recoup.jobs.settle({ ...key(job), finalPrice: 70 })).toEqual({
      outcome: 'duplicate',
      finalPrice: 70,
      amount: 30,
    });
    const refused = await refusal(s.recoup.jobs.settle({ ...key(job), finalPrice: 71 }));
    expect([refused.code, refused.details.finalPrice]).toEqual(['conflict', 70]);
    expect(await s.recoup.jobs.succeed({ ...at(job), finalPrice: 71 })).toMatchObject({
      outcome: 'duplicate',
      finalPrice: 70,
    });
    expect(await digest(s.db)).toBe(before);
    expect(await ledger(s, job.wallet)).toEqual(['charge -100', 'settle 30']);
  },
);

onEvery('a repeated success that knows the final price at last settles it, once', async (s) => {
  const job = await s.running(100);
  await s.recoup.jobs.succeed(at(job));
  for (let i = 0; i < 3; i++) {
    expect(await s.recoup.jobs.succeed({ ...at(job), finalPrice: 25 })).toMatchObject({
      outcome: 'duplicate',
      finalPrice: 25,
    });
  }
  expect(await ledger(s, job.wallet)).toEqual(['charge -100', 'settle 75']);
});

onEvery(
  'a late success with a final price: the recorded price is reclaimed, then the difference settled',
  async (s) => {
    const job = await s.running(40);
    await s.recoup.jobs.fail(at(job));
    expect(await s.recoup.jobs.succeed({ ...at(job), finalPrice: 25 })).toMatchObject({
      outcome: 'reclaimed',
      finalPrice: 25,
    });
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40', 'settle 15']);
    const entries = await s.recoup.wallets.entriesOf(job.wallet, job.job);
    expect(entries.map((entry) => entry.balance)).toEqual([0, 40, 0, 15]);
  },
);

onEvery(
  'a job canceled while queued, running or handed over: one refund, and its late success is refused',
  async (s) => {
    for (const state of ['queued', 'running', 'waiting'] as const) {
      const job = state === 'queued' ? { ...(await s.queued(40)), attempt: 1 } : await s.running(40);
      if (state === 'waiting') await s.recoup.jobs.handOver(at(job));
      expect(await s.recoup.jobs.cancel(key(job))).toEqual({
        outcome: 'canceled',
        state: 'canceled',
        refunded: true,
        kept: null,
      });
      const before = await digest(s.db);
      expect(await s.recoup.jobs.cancel(key(job))).toMatchObject({ outcome: 'duplicate', refunded: false });
      for (const finalPrice of [undefined, 30]) {
        const late = { ...at(job), result: 'late', ...(finalPrice === undefined ? {} : { finalPrice }) };
        expect((await refusal(s.recoup.jobs.succeed(late))).code).toBe('canceled');
        expect((await s.recoup.jobs.succeedMany([late])).map(named)).toEqual(['canceled']);
      }
      for (const call of ['extend', 'handOver', 'release', 'fail'] as const)
        expect(await answer(s.recoup.jobs[call](at(job)))).toBe('canceled');
      for (const call of ['redrive', 'discard'] as const)
        expect(await answer(s.recoup.jobs.deadLetters[call](key(job)))).toBe('canceled');
      expect(await digest(s.db)).toBe(before);
      expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40']);
      expect((await s.recoup.jobs.get(key(job))).result).toBeNull();
    }
  },
);

onEvery(
  'a cancel after a refund, of a queued, dead or discarded job, books no second one; nothing reclaims after it',
  async (s) => {
    for (const state of ['queued', 'dead', 'discarded'] as const) {
      const job = await s.running(40);
      await s.recoup.jobs.fail({ ...at(job), retryable: state === 'queued' });
      if (state === 'discarded') await s.recoup.jobs.deadLetters.discard(key(job));
      expect(await s.recoup.jobs.cancel(key(job))).toMatchObject({ outcome: 'canceled', refunded: false });
      expect(await answer(s.recoup.jobs.succeed(at(job)))).toBe('canceled');
      expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40']);
      expect(await s.recoup.wallets.balance(job.wallet)).toMatchObject({ booked: 40, held: 0, atRisk: 0 });
    }
  },
);

onEvery('a cancel that keeps a delivered part: refund, and a settle of what was kept, whatever it is', async (s) => {
  for (const keep of [12, 0, 40, 55]) {
    const job = await s.running(40);
    expect(await s.recoup.jobs.cancel({ ...key(job), keep })).toMatchObject({
      outcome: 'canceled',
      refunded: true,
      kept: keep,
    });
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', `settle ${0 - keep}`]);
    expect(await balance(s, job.wallet)).toBe(40 - keep);
    expect(await s.recoup.jobs.cancel({ ...key(job), keep })).toMatchObject({ outcome: 'duplicate', kept: keep });
    expect(await answer(s.recoup.jobs.settle({ ...key(job), finalPrice: keep }))).toBe('duplicate');
    expect(await answer(s.recoup.jobs.settle({ ...key(job), finalPrice: keep + 1 }))).toBe('conflict');
  }
  const refunded = await s.running(40);
  await s.recoup.jobs.fail(at(refunded));
  await s.recoup.jobs.cancel({ ...key(refunded), keep: 12 });
  expect(await ledger(s, refunded.wallet)).toEqual(['charge -40', 'refund 40', 'settle -12']);
});

onEvery('what a canceled job was worth may be settled later, once', async (s) => {
  const job = await s.running(40);
  await s.recoup.jobs.cancel(key(job));
  expect(await s.recoup.jobs.settle({ ...key(job), finalPrice: 12 })).toEqual({
    outcome: 'settled',
    finalPrice: 12,
    amount: -12,
  });
  expect(await answer(s.recoup.jobs.settle({ ...key(job), finalPrice: 12 }))).toBe('duplicate');
  expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'settle -12']);
});

onEvery('a cancel that comes after the success changes nothing: the job is done and paid for', async (s) => {
  const job = await s.running(40);
  await s.recoup.jobs.succeed(at(job));
  const before = await digest(s.db);
  for (const keep of [undefined, 12]) {
    const late = await s.recoup.jobs.cancel({ ...key(job), ...(keep === undefined ? {} : { keep }) });
    expect(late).toMatchObject({ outcome: 'succeeded', state: 'succeeded', refunded: false });
  }
  expect(await digest(s.db)).toBe(before);
});

onEvery(
  'refunds at the end: where a queue says so, nothing goes back before the job is dead, canceled or failed for good',
  async (s) => {
    const queue = newId('queue');
    await s.recoup.queues.configure(queue, { refundOn: 'final', maxFailures: 2 });
    const job = await s.running(40, { queue });
    expect(await s.recoup.jobs.fail(at(job))).toMatchObject({ outcome: 'retrying', refunded: false });
    expect(await ledger(s, job.wallet)).toEqual(['charge -40']);
    expect(await s.recoup.wallets.balance(job.wallet)).toMatchObject({ held: 40, atRisk: 0 });
    await s.lease(job.queue);
    expect(await s.recoup.jobs.fail({ ...at(job), attempt: 2 })).toMatchObject({ outcome: 'dead', refunded: true });
    expect(await answer(s.recoup.jobs.succeed({ ...at(job), attempt: 1 }))).toBe('reclaimed');
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
    const early = await s.running(40, { queue });
    await s.recoup.jobs.fail(at(early));
    expect(await answer(s.recoup.jobs.succeed(at(early)))).toBe('succeeded');
    expect(await ledger(s, early.wallet)).toEqual(['charge -40']);
  },
);

onEvery('a balance at its limit refuses what would pass it, names it, and changes nothing', async (s) => {
  const job = await s.running(40);
  await s.recoup.wallets.adjust({ wallet: job.wallet, key: 'down', amount: -MAX });
  const other = await s.running(40);
  await s.recoup.wallets.adjust({ wallet: other.wallet, key: 'up', amount: MAX });
  await s.recoup.jobs.succeed(at(job));
  const before = await digest(s.db);
  const calls: Record<string, (recoup: InTransaction) => Promise<unknown>> = {
    settle: ({ jobs }) => jobs.settle({ ...key(job), finalPrice: 41 }),
    adjust: ({ wallets }) => wallets.adjust({ wallet: job.wallet, key: 'more', amount: -1 }),
    grant: ({ wallets }) => wallets.grant({ wallet: other.wallet, key: 'more', amount: 1 }),
    fail: ({ jobs }) => jobs.fail(at(other)),
    cancel: ({ jobs }) => jobs.cancel(key(other)),
  };
  for (const [name, call] of Object.entries(calls)) {
    expect([name, await answer(call(s.recoup))]).toEqual([name, 'balance_limit']);
    expect([name, await answer(s.recoup.transaction(call))]).toEqual([name, 'balance_limit']);
  }
  expect(await digest(s.db)).toBe(before);
  expect(await answer(s.recoup.jobs.succeed(at(other)))).toBe('succeeded');
});

onEvery('a debt at its limit: what is kept of a canceled job counts against what comes back with it', async (s) => {
  for (const [keep, should] of [
    [50, 'canceled'],
    [51, 'balance_limit'],
  ] as const) {
    const job = await s.running(40);
    await s.recoup.wallets.adjust({ wallet: job.wallet, key: 'down', amount: -(MAX - 10) });
    expect([keep, await answer(s.recoup.jobs.cancel({ ...key(job), keep }))]).toEqual([keep, should]);
  }
});

onEvery(
  'at the limit of a balance what moves no money is heard, and a success without room for its price is not',
  async (s) => {
    const job = await s.running(40);
    await s.recoup.jobs.fail(at(job));
    const second = { ...job, attempt: await s.lease(job.queue) };
    await s.recoup.wallets.adjust({ wallet: job.wallet, key: 'up', amount: MAX - 40 });
    expect(await answer(s.recoup.jobs.fail(at(second)))).toBe('retrying');
    expect(await answer(s.recoup.jobs.fail({ ...at(second), verdict: 'definitive' }))).toBe('retrying');
    const poor = await s.running(40);
    await s.recoup.wallets.adjust({ wallet: poor.wallet, key: 'down', amount: -MAX });
    const succeed = ({ jobs }: InTransaction) => jobs.succeed({ ...at(poor), finalPrice: 41 });
    expect(await answer(s.recoup.transaction(succeed))).toBe('balance_limit');
    expect(await answer(succeed(s.recoup))).toBe('balance_limit');
  },
);

onEvery('at the limit what stands behind a refused input does not come before it', async (s) => {
  /** A wallet at that balance, with a job of 40 at the limit and one that makes room; both succeeded where `ended`. */
  const stand = async (limit: number, ended: boolean, price: number) => {
    const [one, room] = [await s.external(40), newId('room')];
    const other = { wallet: one.wallet, job: room };
    await s.recoup.wallets.grant({ wallet: one.wallet, key: 'for another', amount: 41 });
    await s.recoup.jobs.submit({ ...other, queue: null, price });
    if (ended) for (const job of [one, other]) await s.recoup.jobs.succeed(key(job));
    const { booked } = await s.recoup.wallets.balance(one.wallet);
    await s.recoup.wallets.adjust({ wallet: one.wallet, key: 'to nothing', amount: -booked });
    await s.recoup.wallets.adjust({ wallet: one.wallet, key: 'to the limit', amount: limit });
    return [key(one), other] as const;
  };
  const [rich, free] = await stand(MAX, false, 0);
  const canceled = [rich, rich, { ...free, keep: 80 }, rich].map((input) => s.recoup.jobs.cancel(input));
  expect(await Promise.all(canceled.map(answer))).toEqual(['balance_limit', 'balance_limit', 'canceled', 'canceled']);
  const [poor, cheap] = await stand(-MAX, false, 40);
  const more = { ...poor, finalPrice: 50 };
  const succeeded = await s.recoup.jobs.succeedMany([more, more, { ...cheap, finalPrice: 30 }, more]);
  expect(succeeded.map(named)).toEqual(['balance_limit', 'balance_limit', 'succeeded', 'succeeded']);
  const [dear, less] = await stand(-MAX, true, 40);
  const settled = [50, 50].map((finalPrice) => ({ ...dear, finalPrice }));
  const prices = [...settled, { ...less, finalPrice: 30 }, settled[0]!].map((input) => s.recoup.jobs.settle(input));
  expect(await Promise.all(prices.map(answer))).toEqual(['balance_limit', 'balance_limit', 'settled', 'settled']);
});

onFirst('a batch of successes answers each, also where the final price of one cannot be booked', async (s) => {
  const [poor, fine] = [await s.running(1), await s.running(1)];
  await s.recoup.jobs.succeed(at(poor));
  await s.recoup.wallets.adjust({ wallet: poor.wallet, key: 'down', amount: -MAX });
  const answers = await s.recoup.jobs.succeedMany([{ ...at(poor), finalPrice: MAX }, at(fine)]);
  expect(answers.map(named)).toEqual(['balance_limit', 'succeeded']);
});

onEvery('several that pass the limit only together end a caller’s transaction, and say so', async (s) => {
  const one = await s.running(1);
  const { wallet } = one;
  await s.recoup.jobs.submit({ wallet, job: 'second', queue: null, price: 0 });
  const { booked } = await s.recoup.wallets.balance(wallet);
  await s.recoup.wallets.adjust({ wallet, key: 'down', amount: -MAX - booked + 10 });
  const both = [
    { ...at(one), finalPrice: 8 },
    { wallet, job: 'second', finalPrice: 8 },
  ];
  const before = await digest(s.db);
  const refused = await refusal(() => s.recoup.transaction(({ jobs }) => jobs.succeedMany(both)));
  expect([refused.code, refused.details]).toEqual(['transaction_aborted', { code: 'balance_limit' }]);
  expect(await digest(s.db)).toBe(before);
  expect((await s.recoup.jobs.succeedMany(both)).map(named)).toEqual(['succeeded', 'balance_limit']);
});

onEvery('the books are right', booksAreRight);
