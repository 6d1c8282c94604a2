// What a wallet held at any instant, exactly; and reads and claims that cost the same however much lies behind them.
import fc from 'fast-check';
import { expect } from 'vitest';
import { Crowd } from './support/crowd.ts';
import { answer, entriesOf, ledger, tally, times } from './support/look.ts';
import { booksAreRight, newId, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();

onEvery('the balance at any past instant is the one after the last entry at or before it', async (s) => {
  const wallet = await s.wallet();
  const start = await s.stopClock();
  const after = [{ at: start - 1, seq: 0, booked: 0 }];
  let booked = 0;
  for (let i = 1; i <= 40; i++) {
    // Several entries at one instant, and instants without any.
    if (i % 3 === 0) await s.db.advance(1000 * (i % 5));
    const amount = i % 4 === 0 ? -3 : i;
    booked += amount;
    await s.recoup.wallets.adjust({ wallet, key: `${i}`, amount });
    after.push({ at: (await s.db.now()).getTime(), seq: i, booked });
  }
  const last = after.at(-1)!.at;
  const instants = [
    ...new Set([start - 86_400_000, ...after.flatMap(({ at }) => [at - 1, at, at + 1]), last + 86_400_000]),
  ];
  for (const instant of instants) {
    const expected = after.filter(({ at, seq }) => seq === 0 || at <= instant).at(-1)!;
    const got = await s.recoup.wallets.balanceAt(wallet, new Date(instant));
    expect([instant, got.seq, got.booked]).toEqual([instant, expected.seq, expected.booked]);
  }
  expect(await answer(s.recoup.wallets.balanceAt(newId('nowhere'), new Date()))).toBe('no_wallet');
});

onEvery('a replay has every entry once, forwards, backwards and from anywhere, over pages', async (s) => {
  const wallet = await s.wallet();
  await s.recoup.wallets.grantMany(times(2500, (i) => ({ wallet, key: `${i}`, amount: 1 })));
  const seqs = async (options: object) => {
    const got: number[] = [];
    for await (const { seq } of s.recoup.wallets.replay(wallet, options)) got.push(seq);
    return got;
  };
  const all = times(2500, (i) => i + 1);
  expect(await seqs({})).toEqual(all);
  expect(await seqs({ newestFirst: true })).toEqual(all.toReversed());
  expect(await seqs({ afterSeq: 1499 })).toEqual(all.slice(1499));
  expect(await seqs({ afterSeq: 2499, newestFirst: true })).toEqual([2500]);
  expect(await seqs({ afterSeq: 9999 })).toEqual([]);
});

onEvery(
  'sixteen callers on one wallet, whose transactions begin and end in any order: created_at never falls along seq',
  async (s) => {
    const wallet = await s.wallet();
    const crowd = await Crowd.on(s);
    const answers = await crowd.all(160, ({ wallets }, i) => wallets.grant({ wallet, key: `${i}`, amount: 1 }));
    expect(tally(answers)).toEqual({ granted: 160 });
    const [fallen] = await s.db.query(
      `select count(*)::int as fallen from (select created_at < lag(created_at) over (order by seq) as falls
     from recoup.entries where wallet_id = $1) x where falls`,
      [wallet],
    );
    expect(fallen).toEqual({ fallen: 0 });
    expect((await entriesOf(s, wallet)).map(({ seq }) => seq)).toEqual(times(160, (i) => i + 1));
  },
);

onFirst('whatever is granted, charged and given back, the balance is the sum of the entries', async (s) => {
  const step = fc.record({
    kind: fc.constantFrom('grant', 'adjust', 'submit', 'fail', 'succeed'),
    amount: fc.integer({ min: 1, max: 50 }),
    job: fc.integer({ min: 0, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const wallet = await s.wallet();
      for (const [i, { kind, amount, job: n }] of steps.entries()) {
        const job = { wallet, job: `job ${n}` };
        if (kind === 'grant') await s.recoup.wallets.grant({ wallet, key: `${i}`, amount });
        else if (kind === 'adjust') await s.recoup.wallets.adjust({ wallet, key: `${i}`, amount: -amount });
        else if (kind === 'submit') await answer(s.recoup.jobs.submit({ ...job, queue: null, price: amount }));
        else if (kind === 'fail') await answer(s.recoup.jobs.fail(job));
        else await answer(s.recoup.jobs.succeed({ ...job, ...(n % 2 ? { finalPrice: amount } : {}) }));
      }
      const booked = (await ledger(s, wallet)).reduce((sum, entry) => sum + Number(entry.split(' ')[1]), 0);
      expect(await s.recoup.wallets.balance(wallet)).toMatchObject({ booked, spendable: Math.max(booked, 0) });
    }),
    { numRuns: 25 },
  );
});

onEvery('the books are right', booksAreRight);
