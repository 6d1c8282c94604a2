// Batches: many calls share a statement, and each is answered as if they had run one by one; a held wallet stalls only itself.
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Recoup, Submit } from '../src/index.ts';
import { answer, balance, digest, ledger, named, tally, times } from './support/look.ts';
import { booksAreRight, newId, type Running, type Stage, staging } from './support/stage.ts';
import { untilWaiting, watch } from './support/waiting.ts';

const { onEvery, onFirst } = staging();
const external = (wallet: string, job: string, price: number): Submit => ({ wallet, job, queue: null, price });

onEvery(
  'one batch with twins, several jobs of a wallet and an unknown wallet: each is answered for itself',
  async (s) => {
    const [one, other] = [await s.wallet(100), await s.wallet(5)];
    const nowhere = newId('nowhere');
    const batch = [
      external(one, 'a', 40),
      external(one, 'a', 40),
      external(nowhere, 'a', 1),
      external(one, 'b', 30),
      external(one, 'a', 41),
      external(other, 'a', 6),
      external(other, 'a', 5),
      external(one, 'c', 31),
      external(one, 'c', 30),
    ];
    const answers = await s.recoup.jobs.submitMany(batch);
    const expected = [
      'charged',
      'duplicate',
      'no_wallet',
      'charged',
      'conflict',
      'insufficient_credits',
      'charged',
      'insufficient_credits',
      'charged',
    ];
    expect(answers.map(named)).toEqual(expected);
    expect(await ledger(s, one)).toEqual(['charge -40', 'charge -30', 'charge -30']);
    expect(await ledger(s, other)).toEqual(['charge -5']);

    const signals = [
      ...['a', 'a', 'b', 'x'].map((job) => ({ wallet: one, job })),
      { wallet: nowhere, job: 'a' },
      { wallet: other, job: 'a' },
    ];
    const failed = ['refunded', 'duplicate', 'refunded', 'no_job', 'no_job', 'refunded'];
    expect((await s.recoup.jobs.failMany(signals)).map(named)).toEqual(failed);
    const succeeded = ['reclaimed', 'duplicate', 'reclaimed', 'no_job', 'no_job', 'reclaimed'];
    expect((await s.recoup.jobs.succeedMany(signals)).map(named)).toEqual(succeeded);
    const granted = [
      ...[one, one, nowhere, other].map((wallet) => ({ wallet, key: 'the same', amount: 7 })),
      { wallet: one, key: 'the same', amount: 8 },
      { wallet: one, key: 'another', amount: 8 },
    ];
    const grants = (await s.recoup.wallets.grantMany(granted)).map(named);
    expect(grants).toEqual(['granted', 'duplicate', 'no_wallet', 'granted', 'conflict', 'granted']);
  },
);

onEvery('prices 1000, 1, 1 on a balance of 100: the first is refused, the others are charged', async (s) => {
  const wallet = await s.wallet(100);
  const answers = await s.recoup.jobs.submitMany([1000, 1, 1].map((price, i) => external(wallet, `job ${i}`, price)));
  expect(answers.map(named)).toEqual(['insufficient_credits', 'charged', 'charged']);
  expect(await balance(s, wallet)).toBe(98);
});

/** What a list of calls is answered when they are made in one turn, which is one batch, and when each waits for the last. */
async function bothWays(
  s: Stage,
  calls: readonly ((recoup: Recoup, wallet: string) => Promise<unknown>)[],
  credits: number,
) {
  const [together, alone] = [await s.wallet(credits), await s.wallet(credits)];
  const batched = await Promise.all(calls.map((call) => answer(call(s.recoup, together))));
  const single: string[] = [];
  for (const call of calls) single.push(await answer(call(s.recoup, alone)));
  return { batched: [batched, await ledger(s, together)], single: [single, await ledger(s, alone)] };
}

onFirst('batches of submits with any prices and twins are answered like the same submits one by one', async (s) => {
  const submits = fc.array(fc.record({ job: fc.integer({ min: 0, max: 9 }), price: fc.integer({ min: 0, max: 30 }) }), {
    maxLength: 25,
  });
  await fc.assert(
    fc.asyncProperty(submits, fc.integer({ min: 0, max: 100 }), async (batch, credits) => {
      const calls = batch.map(
        ({ job, price }) =>
          ({ jobs }: Recoup, wallet: string) =>
            jobs.submit(external(wallet, `job ${job}`, price)),
      );
      const { batched, single } = await bothWays(s, calls, credits);
      expect(batched).toEqual(single);
    }),
    { numRuns: 60 },
  );
});

onFirst(
  'batches of grants and adjusts with any keys and amounts are answered like the same calls one by one',
  async (s) => {
    const MAX = Number.MAX_SAFE_INTEGER;
    const entry = fc.record({
      key: fc.integer({ min: 0, max: 9 }),
      amount: fc.constantFrom(1, 2, MAX, MAX - 1, -1, -2, -MAX),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 25 }), fc.boolean(), async (batch, grants) => {
        const calls = batch.map(
          ({ key, amount }) =>
            ({ wallets }: Recoup, wallet: string) =>
              grants
                ? wallets.grant({ wallet, key: `key ${key}`, amount: Math.abs(amount) })
                : wallets.adjust({ wallet, key: `key ${key}`, amount }),
        );
        const { batched, single } = await bothWays(s, calls, 5);
        expect(batched).toEqual(single);
      }),
      { numRuns: 60 },
    );
  },
);

onEvery('twins in a batch inside a transaction: the second is a duplicate, and the transaction goes on', async (s) => {
  const wallet = await s.wallet(100);
  const answers = await s.recoup.transaction(async ({ wallets, jobs }) => {
    const grant = { wallet, key: 'twin', amount: 5 };
    const job = { wallet, job: 'twin', queue: null, price: 10 };
    const granted = await wallets.grantMany([grant, grant, { ...grant, amount: 6 }]);
    return [...granted, ...(await jobs.submitMany([job, job]))].map(named);
  });
  expect(answers).toEqual(['granted', 'duplicate', 'conflict', 'charged', 'duplicate']);
  expect(await ledger(s, wallet)).toEqual(['grant 5', 'charge -10']);
});

onEvery('twins of any signal in one statement: the second is told what the first one did', async (s) => {
  const dead = async () => {
    const job = await s.running(1);
    await s.recoup.jobs.fail({ wallet: job.wallet, job: job.job, attempt: job.attempt, retryable: false });
    return job;
  };
  const twins: Record<
    string,
    [make: () => Promise<Running>, call: (of: Running) => Promise<unknown>, answers: string[]]
  > = {
    extend: [() => s.running(1), (of) => s.recoup.jobs.extend(of), ['extended', 'extended']],
    handOver: [() => s.running(1), (of) => s.recoup.jobs.handOver(of), ['handed_over', 'duplicate']],
    release: [() => s.running(1), (of) => s.recoup.jobs.release(of), ['released', 'duplicate']],
    fail: [() => s.running(1), (of) => s.recoup.jobs.fail(of), ['retrying', 'duplicate']],
    succeed: [() => s.running(1), (of) => s.recoup.jobs.succeed(of), ['succeeded', 'duplicate']],
    cancel: [() => s.running(1), ({ wallet, job }) => s.recoup.jobs.cancel({ wallet, job }), ['canceled', 'duplicate']],
    redrive: [dead, (of) => s.recoup.jobs.deadLetters.redrive(of), ['redriven', 'duplicate']],
    discard: [dead, (of) => s.recoup.jobs.deadLetters.discard(of), ['discarded', 'duplicate']],
  };
  for (const [name, [make, call, answers]] of Object.entries(twins)) {
    const { wallet, job, attempt } = await make();
    const of = { wallet, job, attempt };
    expect([name, await Promise.all([answer(call(of)), answer(call(of))])]).toEqual([name, answers]);
  }
});

onEvery('a repeated grant with another note books nothing and notes nothing', async (s) => {
  const wallet = await s.wallet();
  const grant = (key: string, note?: string) =>
    s.recoup.wallets.grant({ wallet, key, amount: 1, ...(note ? { note } : {}) });
  await grant('one', 'the first');
  await grant('two');
  expect(await answer(grant('one', 'once more'))).toBe('duplicate');
  const { entries } = await s.recoup.wallets.entries(wallet);
  expect(entries.map(({ key, note }) => [key, note])).toEqual([
    ['one', 'the first'],
    ['two', null],
  ]);
});

onEvery('an input that the database refuses fails alone: the others of its batch are answered', async (s) => {
  const MAX = Number.MAX_SAFE_INTEGER;
  const full = await s.running(40);
  await s.recoup.wallets.adjust({ wallet: full.wallet, key: 'fill', amount: MAX });
  const others = await Promise.all(times(20, () => s.running(40)));
  const batch = [...others.slice(0, 9), full, ...others.slice(9)].map(({ wallet, job, attempt }) => ({
    wallet,
    job,
    attempt,
  }));
  const answers = (await s.recoup.jobs.failMany(batch)).map(named);
  expect(tally(answers)).toEqual({ retrying: 20, balance_limit: 1 });
  expect(answers[9]).toBe('balance_limit');
  expect(await ledger(s, full.wallet)).toEqual(['charge -40', `adjust ${MAX}`]);
  expect(await answer(s.recoup.jobs.succeed(batch[9]!))).toBe('succeeded');
});

onEvery('a batch of more inputs than a statement takes is answered in order', async (s) => {
  const wallet = await s.wallet(1500);
  const batch = times(1700, (i) => external(wallet, `job ${i % 1600}`, 1));
  const answers = (await s.recoup.jobs.submitMany(batch)).map(named);
  expect(tally(answers.slice(0, 1500))).toEqual({ charged: 1500 });
  expect(tally(answers.slice(1500, 1600))).toEqual({ insufficient_credits: 100 });
  expect(tally(answers.slice(1600))).toEqual({ duplicate: 100 });
  expect(await s.recoup.jobs.submitMany([])).toEqual([]);
});

/** Every call that moves money of a wallet or changes it. */
const CALLS: Readonly<Record<string, (recoup: Recoup, wallet: string) => Promise<unknown>>> = {
  submit: ({ jobs }, wallet) => jobs.submit(external(wallet, 'new', 1)),
  fail: ({ jobs }, wallet) => jobs.fail({ wallet, job: 'one' }),
  succeed: ({ jobs }, wallet) => jobs.succeed({ wallet, job: 'failed', finalPrice: 3 }),
  settle: ({ jobs }, wallet) => jobs.settle({ wallet, job: 'done', finalPrice: 3 }),
  cancel: ({ jobs }, wallet) => jobs.cancel({ wallet, job: 'two' }),
  grant: ({ wallets }, wallet) => wallets.grant({ wallet, key: 'new', amount: 1 }),
  adjust: ({ wallets }, wallet) => wallets.adjust({ wallet, key: 'newer', amount: -1 }),
  change: ({ wallets }, wallet) => wallets.change(wallet, { overdraftLimit: 5 }),
};

async function walletWithJobs(s: Stage): Promise<string> {
  const wallet = await s.wallet(100);
  const jobs = ['one', 'two', 'failed', 'done'];
  await s.recoup.jobs.submitMany(jobs.map((job) => external(wallet, job, 5)));
  await s.recoup.jobs.fail({ wallet, job: 'failed' });
  await s.recoup.jobs.succeed({ wallet, job: 'done' });
  return wallet;
}

onEvery('a wallet that somebody holds stalls only its own calls; they are answered when it is free', async (s) => {
  const wallets = await Promise.all(times(4, () => walletWithJobs(s)));
  const held = wallets[1]!;
  const holder = await s.client();
  await holder.query('begin');
  await holder.query('select from recoup.wallets where id = $1 for update', [held]);
  const patient = await s.replica({ lockTimeoutMs: 60_000 });
  for (const [name, call] of Object.entries(CALLS)) {
    const stalled = watch(answer(call(patient, held)));
    const free = wallets.filter((wallet) => wallet !== held).map((wallet) => answer(call(patient, wallet)));
    expect([name, tally(await Promise.all(free))]).not.toContain('wallet_busy');
    // Later calls to the held wallet do not stall the free ones either.
    expect(await answer(patient.wallets.grant({ wallet: wallets[2]!, key: `after ${name}`, amount: 1 }))).toBe(
      'granted',
    );
    expect(stalled.settled).toBe(false);
  }
  await untilWaiting(s.db, 1);
  const last = watch(answer(patient.jobs.submit(external(held, 'last', 1))));
  await holder.query('commit');
  expect(await last.call).toBe('charged');
  await patient.close();
  expect((await ledger(s, held)).length).toBe((await ledger(s, wallets[0]!)).length + 1);
});

onEvery(
  'a wallet held for longer than the lock time-out: wallet_busy, nothing has changed, and the repeat is charged',
  async (s) => {
    const wallet = await walletWithJobs(s);
    const hasty = await s.replica({ lockTimeoutMs: 50 });
    const holder = await s.client();
    await holder.query('begin');
    await holder.query('select from recoup.wallets where id = $1 for update', [wallet]);
    const before = await digest(s.db);
    for (const [name, call] of Object.entries(CALLS))
      expect([name, await answer(call(hasty, wallet))]).toEqual([name, 'wallet_busy']);
    expect(await digest(s.db)).toBe(before);
    await holder.query('commit');
    for (const [name, call] of Object.entries(CALLS))
      expect([name, await answer(call(hasty, wallet))]).not.toEqual([name, 'wallet_busy']);
  },
);

onEvery('a wallet that somebody is just opening stalls nobody who opens another one', async (s) => {
  const [mine, ...others] = times(9, () => newId('wallet'));
  const holder = await s.client();
  await holder.query('begin');
  await s.recoup.using(holder).wallets.open({ wallet: mine!, customer: 'one' });
  const patient = await s.replica({ lockTimeoutMs: 60_000 });
  const same = watch(answer(patient.wallets.open({ wallet: mine!, customer: 'one' })));
  const answers = await Promise.all(others.map((wallet) => answer(patient.wallets.open({ wallet, customer: 'one' }))));
  expect(tally(answers)).toEqual({ opened: 8 });
  expect(same.settled).toBe(false);
  await holder.query('commit');
  expect(await same.call).toBe('duplicate');
});

onFirst('thousands of submits at once, in several statements: a wallet books its own in their order', async (s) => {
  const wallets = await Promise.all(times(7, () => s.wallet(10_000)));
  const submit = (i: number) => s.recoup.jobs.submit(external(wallets[i % 2 && i % 7]!, `in order ${i}`, 1));
  const answers = await Promise.all(times(3000, submit));
  for (const wallet of wallets) {
    const seqs = answers.filter(({ job }) => job.wallet === wallet).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  }
});

onFirst('more calls of one wallet than a function takes arguments are each answered', async (s) => {
  const wallet = await s.wallet(0);
  await s.recoup.wallets.change(wallet, { status: 'closed' });
  const submit = (i: number) => answer(s.recoup.jobs.submit(external(wallet, `${i}`, 1)));
  expect(tally(await Promise.all(times(140_000, submit)))).toEqual({ wallet_closed: 140_000 });
});

onEvery('the books are right', booksAreRight);
