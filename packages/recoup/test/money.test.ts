// Money: what a job takes from its wallet in the end is its price, its final price, or nothing, in any order of signals.
import { expect } from 'vitest';
import { answer, balance, digest, ledger, refusal, stateOf } from './support/look.ts';
import { booksAreRight, newId, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();

onEvery(
  'a late success after a time-out takes the refund back exactly once, however often it is reported',
  async (s) => {
    const job = await s.running(40);
    expect(await s.recoup.jobs.fail({ ...at(job), reason: 'time-out' })).toMatchObject({
      outcome: 'retrying',
      refunded: true,
    });
    const first = await s.recoup.jobs.succeed({ ...at(job), result: { url: 'x' } });
    expect(first).toMatchObject({ outcome: 'reclaimed', reclaimed: true, succeededAttempt: 1 });
    for (let i = 0; i < 4; i++) {
      expect(await s.recoup.jobs.succeed({ ...at(job), result: { url: 'other' } })).toEqual({
        ...first,
        outcome: 'duplicate',
      });
    }
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
    expect(await balance(s, job.wallet)).toBe(0);
    expect((await s.recoup.jobs.get(key(job))).result).toEqual({ url: 'x' });
  },
);

onEvery('a failure that arrives after the success refunds nothing, whatever it says', async (s) => {
  const job = await s.running(40);
  await s.recoup.jobs.succeed(at(job));
  const before = await digest(s.db);
  for (const verdict of ['presumed', 'definitive'] as const) {
    for (const retryable of [true, false]) {
      const late = await s.recoup.jobs.fail({ ...at(job), verdict, retryable, reason: 'late' });
      expect(late).toMatchObject({ outcome: 'succeeded', state: 'succeeded', refunded: false });
    }
  }
  expect(await digest(s.db)).toBe(before);
  expect(await ledger(s, job.wallet)).toEqual(['charge -40']);
});

onEvery(
  'a success of an earlier attempt counts while a later one runs; nothing the later one says moves money',
  async (s) => {
    const job = await s.running(40);
    await s.recoup.jobs.fail(at(job));
    expect(await s.lease(job.queue)).toBe(2);
    const second = { ...at(job), attempt: 2 };
    expect(await s.recoup.jobs.succeed(at(job))).toMatchObject({ outcome: 'reclaimed', succeededAttempt: 1 });
    expect(await answer(s.recoup.jobs.extend(second))).toBe('succeeded');
    expect(await answer(s.recoup.jobs.fail({ ...second, verdict: 'definitive', retryable: false }))).toBe('succeeded');
    expect(await s.recoup.jobs.succeed(second)).toMatchObject({ outcome: 'duplicate', succeededAttempt: 1 });
    expect(await answer(s.recoup.jobs.release(second))).toBe('succeeded');
    expect(await answer(s.recoup.jobs.handOver(second))).toBe('succeeded');
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
    const ends = (await s.recoup.jobs.attempts(key(job))).map(({ attempt, endedAs }) => `${attempt} ${endedAs}`);
    expect(ends.sort()).toEqual(['1 failed', '1 succeeded', '2 superseded']);
  },
);

onEvery(
  'a failure of an earlier attempt is stale: it changes nothing, and the running attempt keeps its lease',
  async (s) => {
    const job = await s.running(40);
    await s.recoup.jobs.fail({ ...at(job), reason: 'the first' });
    await s.lease(job.queue);
    const before = await digest(s.db);
    for (const verdict of ['presumed', 'definitive'] as const) {
      for (const retryable of [true, false]) {
        const stale = await s.recoup.jobs.fail({ ...at(job), verdict, retryable, reason: 'again', upstreamRef: 'ref' });
        expect(stale).toMatchObject({ outcome: 'stale', state: 'running', attempt: 2, refunded: false });
      }
    }
    for (const call of ['extend', 'handOver', 'release'] as const)
      expect(await answer(s.recoup.jobs[call](at(job)))).toBe('stale');
    expect(await digest(s.db)).toBe(before);
  },
);

onEvery('a late report about a dead job changes nothing, not even its reason', async (s) => {
  const job = await s.running(40, { maxFailures: 3 });
  for (let attempt = 1; attempt <= 3; attempt++) {
    await s.recoup.jobs.fail({
      ...at(job),
      attempt,
      reason: `reason ${attempt}`,
      verdict: attempt === 3 ? 'definitive' : 'presumed',
    });
    if (attempt < 3) await s.lease(job.queue);
  }
  expect(await stateOf(s, job)).toMatchObject({ state: 'dead', failures: 3, reason: 'reason 3' });
  const before = await digest(s.db);
  for (const attempt of [1, 2, 3, 4]) {
    const late = s.recoup.jobs.fail({
      ...at(job),
      attempt,
      reason: 'another',
      verdict: 'definitive',
      retryable: false,
    });
    expect(await answer(late)).toBe(attempt === 3 ? 'duplicate' : 'stale');
  }
  expect(await digest(s.db)).toBe(before);
  expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40']);
});

onEvery(
  'a refund that was spent elsewhere is reclaimed into debt, and a debt refuses new jobs until it is paid',
  async (s) => {
    const job = await s.running(40);
    await s.recoup.jobs.fail(at(job));
    await s.recoup.jobs.submit({ wallet: job.wallet, job: 'other', queue: newId('queue'), price: 30 });
    expect(await answer(s.recoup.jobs.succeed(at(job)))).toBe('reclaimed');
    expect(await s.recoup.wallets.balance(job.wallet)).toMatchObject({
      booked: -30,
      spendable: 0,
      held: 30,
      atRisk: 0,
    });
    const next = { wallet: job.wallet, job: 'next', queue: newId('queue'), price: 1 };
    for (const price of [0, 1])
      expect(await answer(s.recoup.jobs.submit({ ...next, price }))).toBe('insufficient_credits');
    await s.recoup.wallets.grant({ wallet: job.wallet, key: 'part', amount: 30 });
    expect(await answer(s.recoup.jobs.submit(next))).toBe('insufficient_credits');
    await s.recoup.wallets.grant({ wallet: job.wallet, key: 'rest', amount: 1 });
    expect(await answer(s.recoup.jobs.submit(next))).toBe('charged');
  },
);

onEvery('a refusal for lack of credits says why and does not burn the id', async (s) => {
  const wallet = await s.wallet(10);
  await s.recoup.jobs.submit({ wallet, job: 'runs', queue: newId('queue'), price: 4 });
  const job = { wallet, job: 'wanted', queue: newId('queue'), price: 7, payload: { a: 1 } };
  const before = await digest(s.db);
  const refused = await refusal(s.recoup.jobs.submit(job));
  expect(refused.code).toBe('insufficient_credits');
  expect(refused.details).toMatchObject({ wallet, job: 'wanted', balance: 6, price: 7, held: 4 });
  expect(await digest(s.db)).toBe(before);
  await s.recoup.wallets.grant({ wallet, key: 'top-up', amount: 1 });
  expect(await s.recoup.jobs.submit(job)).toMatchObject({ outcome: 'charged', balance: 0, seq: 4 });
  expect(await ledger(s, wallet)).toEqual(['charge -4', 'grant 1', 'charge -7']);
});

onEvery(
  'a repeated submit gives back the first job and charge; anything else about it is a conflict that names what differs',
  async (s) => {
    const wallet = await s.wallet(100);
    const job = { wallet, job: 'the one', queue: 'a queue', price: 40, payload: { a: 1, b: { c: [1, 2], d: null } } };
    const first = await s.recoup.jobs.submit(job);
    await s.recoup.wallets.grant({ wallet, key: 'later', amount: 5 });
    const before = await digest(s.db);
    expect(await s.recoup.jobs.submit(job)).toEqual({ ...first, outcome: 'duplicate' });
    const reordered = { b: { d: null, c: [1, 2] }, a: 1 };
    expect(await answer(s.recoup.jobs.submit({ ...job, payload: reordered }))).toBe('duplicate');
    const others = {
      price: { ...job, price: 41 },
      queue: { ...job, queue: 'another queue' },
      payload: { ...job, payload: { ...job.payload, a: 2 } },
    };
    for (const [field, other] of Object.entries(others)) {
      const refused = await refusal(s.recoup.jobs.submit(other));
      expect([refused.code, refused.details.differs]).toEqual(['conflict', [field]]);
      expect(refused.message).toContain(field);
    }
    const { queue: _queue, ...rest } = others.payload;
    const all = await refusal(s.recoup.jobs.submit({ ...rest, queue: null, price: 0 }));
    expect(all.details.differs).toEqual(['price', 'queue', 'payload']);
    expect(await digest(s.db)).toBe(before);
  },
);

onEvery('the same job id in two wallets is two jobs', async (s) => {
  const [one, other] = [await s.running(40, { job: 'same' }), await s.running(30, { job: 'same' })];
  expect(await answer(s.recoup.jobs.succeed(at(one)))).toBe('succeeded');
  expect(await answer(s.recoup.jobs.fail(at(other)))).toBe('retrying');
  expect(await answer(s.recoup.jobs.submit({ wallet: one.wallet, job: 'same', queue: one.queue, price: 40 }))).toBe(
    'duplicate',
  );
  expect(await ledger(s, one.wallet)).toEqual(['charge -40']);
  expect(await ledger(s, other.wallet)).toEqual(['charge -30', 'refund 30']);
});

onEvery('a job of price 0 goes through the same states, with entries of 0', async (s) => {
  const job = await s.running(0);
  await s.recoup.jobs.fail(at(job));
  await s.recoup.jobs.succeed({ ...at(job), finalPrice: 0 });
  expect(await ledger(s, job.wallet)).toEqual(['charge 0', 'refund 0', 'reclaim 0', 'settle 0']);
  const free = await s.running(0);
  await s.recoup.jobs.cancel({ wallet: free.wallet, job: free.job, keep: 0 });
  expect(await ledger(s, free.wallet)).toEqual(['charge 0', 'refund 0', 'settle 0']);
  const dead = await s.running(0);
  await s.recoup.jobs.fail({ ...at(dead), retryable: false });
  expect(await s.recoup.jobs.deadLetters.preview({ wallet: dead.wallet })).toMatchObject({ count: 1, mayReclaim: 0 });
});

onEvery(
  'a success counts for a dead letter, and after a discard: it leaves them and takes the refund back',
  async (s) => {
    for (const discard of [false, true]) {
      const job = await s.running(40);
      expect(await answer(s.recoup.jobs.fail({ ...at(job), retryable: false }))).toBe('dead');
      if (discard) expect(await answer(s.recoup.jobs.deadLetters.discard(key(job)))).toBe('discarded');
      expect(await answer(s.recoup.jobs.succeed(at(job)))).toBe('reclaimed');
      expect(await stateOf(s, job)).toMatchObject({ state: 'succeeded', deadAt: null });
      expect(await s.recoup.jobs.deadLetters.preview({ wallet: job.wallet })).toMatchObject({ count: 0 });
      for (const call of ['redrive', 'discard'] as const)
        expect(await answer(s.recoup.jobs.deadLetters[call](key(job)))).toBe('succeeded');
      expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
    }
  },
);

onEvery('a job without a queue: refund, duplicate, reclaim, too late; the attempt need not be named', async (s) => {
  for (const attempt of [undefined, 1]) {
    const job = { ...(await s.external(40)), ...(attempt === undefined ? {} : { attempt }) };
    expect(await answer(s.recoup.jobs.fail(job))).toBe('refunded');
    expect(await answer(s.recoup.jobs.fail({ ...job, verdict: 'definitive' }))).toBe('duplicate');
    expect(await answer(s.recoup.jobs.succeed(job))).toBe('reclaimed');
    expect(await answer(s.recoup.jobs.fail(job))).toBe('succeeded');
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'refund 40', 'reclaim -40']);
    expect((await s.recoup.jobs.lease({ queue: '*', count: 100 })).length).toBe(0);
  }
});

onEvery(
  'support gives credit back on a succeeded job: once per key, and the job itself takes what it took',
  async (s) => {
    const job = await s.running(40);
    await s.recoup.jobs.succeed(at(job));
    const adjust = {
      wallet: job.wallet,
      job: job.job,
      amount: 10,
      actor: 'support',
      reason: 'goodwill',
      note: 'was slow',
    };
    const first = await s.recoup.wallets.adjust({ ...adjust, key: 'ticket 1' });
    expect(await answer(s.recoup.wallets.adjust({ ...adjust, key: 'ticket 2' }))).toBe('adjusted');
    expect(await s.recoup.wallets.adjust({ ...adjust, key: 'ticket 1' })).toEqual({ ...first, outcome: 'duplicate' });
    expect(await ledger(s, job.wallet)).toEqual(['charge -40', 'adjust 10', 'adjust 10']);
    const named = (await s.recoup.wallets.entriesOf(job.wallet, job.job)).map(({ type, actor, note }) => [
      type,
      actor,
      note,
    ]);
    expect(named).toEqual([
      ['charge', null, null],
      ['adjust', 'support', 'was slow'],
      ['adjust', 'support', 'was slow'],
    ]);
  },
);

onFirst('a key that was used for another amount, another kind of entry or another job is a conflict', async (s) => {
  const wallet = await s.wallet(100);
  const { grant, adjust } = {
    grant: s.recoup.wallets.grant.bind(s.recoup.wallets),
    adjust: s.recoup.wallets.adjust.bind(s.recoup.wallets),
  };
  await grant({ wallet, key: 'payment', amount: 10 });
  await adjust({ wallet, key: 'ticket', amount: 10, job: 'one' });
  const before = await digest(s.db);
  expect((await refusal(grant({ wallet, key: 'payment', amount: 11 }))).details).toMatchObject({
    key: 'payment',
    booked: { type: 'grant', amount: 10 },
  });
  expect(await answer(adjust({ wallet, key: 'payment', amount: 10 }))).toBe('conflict');
  expect(await answer(grant({ wallet, key: 'ticket', amount: 10 }))).toBe('conflict');
  expect(await answer(adjust({ wallet, key: 'ticket', amount: -10, job: 'one' }))).toBe('conflict');
  expect(await answer(adjust({ wallet, key: 'ticket', amount: 10, job: 'another' }))).toBe('conflict');
  expect(await digest(s.db)).toBe(before);
});

onEvery('the books are right', booksAreRight);

const at = ({ wallet, job, attempt }: { wallet: string; job: string; attempt: number }) => ({ wallet, job, attempt });
const key = ({ wallet, job }: { wallet: string; job: string }) => ({ wallet, job });
