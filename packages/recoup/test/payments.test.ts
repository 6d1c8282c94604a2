// Payments: one grant however often and in whatever order a provider tells of it; what is taken back nets exactly.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TellPayment } from '../src/index.ts';
import { toBeTaken } from '../src/payments/worth.ts';
import { answer, balance, ledger, refusal, tally } from './support/look.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();

const bought = async (s: Stage, credits = 100, amount = 1000) => {
  const wallet = await s.wallet();
  const payment = newId('stripe:pi');
  const tell = (news: Omit<TellPayment, 'payment'>) => s.recoup.payments.tell({ payment, ...news });
  return { wallet, payment, tell, paid: { purchase: { wallet, credits }, amount, paid: true } };
};

onEvery('grant 100, spend 90, refund 40, dispute 60, won, refund 60: net −100 of grants, debt 90', async (s) => {
  const { wallet, tell, paid } = await bought(s);
  expect(await tell(paid)).toEqual({ outcome: 'granted', granted: 100, taken: 0 });
  await s.queued(90, { wallet });
  expect(await tell({ refunded: 400 })).toEqual({ outcome: 'adjusted', granted: 100, taken: 40 });
  await tell({ dispute: { id: 'dp', amount: 600, state: 'open' } });
  expect(await balance(s, wallet)).toBe(-90);
  await tell({ dispute: { id: 'dp', amount: 600, state: 'won' } });
  expect(await balance(s, wallet)).toBe(-30);
  await tell({ refunded: 1000 });
  // Told again, or late: nothing more.
  await tell({ dispute: { id: 'dp', amount: 600, state: 'open' } });
  await tell({ refunded: 400 });
  expect(await tell(paid)).toEqual({ outcome: 'told', granted: 100, taken: 100 });
  const lines = ['grant 100', 'charge -90', 'clawback -40', 'clawback -60', 'restore 60', 'clawback -60'];
  expect(await ledger(s, wallet)).toEqual(lines);
  expect(await balance(s, wallet)).toBe(-90);
});

onEvery('two events of one payment, each five times from five replicas at once, grant once', async (s) => {
  const { wallet, payment, paid } = await bought(s);
  const replicas = await Promise.all([1, 2, 3, 4, 5].map(() => s.replica()));
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => {
      const news = n % 2 === 0 ? paid : { ...paid, refunded: 500 };
      return answer(replicas[n % 5]!.payments.tell({ payment, ...news }));
    }),
  );
  const { granted = 0, adjusted = 0, told = 0 } = tally(answers);
  expect([granted, granted + adjusted + told]).toEqual([1, 50]);
  expect(await balance(s, wallet)).toBe(50);
  expect((await ledger(s, wallet)).filter((line) => line.startsWith('grant'))).toEqual(['grant 100']);
});

onEvery('a clawback that comes before its grant is netted when the grant comes', async (s) => {
  const { wallet, tell, paid } = await bought(s);
  expect(await tell({ refunded: 300 })).toEqual({ outcome: 'told', granted: 0, taken: 0 });
  expect(await tell({ dispute: { id: 'dp', amount: 200, state: 'lost' } })).toMatchObject({ outcome: 'told' });
  expect(await tell(paid)).toEqual({ outcome: 'granted', granted: 100, taken: 50 });
  expect(await ledger(s, wallet)).toEqual(['grant 100', 'clawback -50']);
});

onEvery('no more is taken back than has not expired, and what is given back has the terms of its grant', async (s) => {
  const expiresAt = new Date((await s.stopClock()) + 1000);
  const { wallet, tell, paid } = await bought(s);
  await tell({ ...paid, purchase: { ...paid.purchase, expiresAt } });
  await s.external(30, { wallet });
  await tell({ dispute: { id: 'dp', amount: 200, state: 'open' } });
  expect(await s.recoup.wallets.balance(wallet)).toMatchObject({
    booked: 50,
    expiring: [{ amount: 50, at: expiresAt }],
  });
  await s.db.advance(1000);
  await s.recoup.sweep();
  await tell({ dispute: { id: 'dp', amount: 200, state: 'won' } });
  expect(await s.recoup.wallets.balance(wallet)).toMatchObject({ booked: 20, spendable: 0 });
  await s.recoup.sweep();
  expect(await tell({ refunded: 1000 })).toEqual({ outcome: 'adjusted', granted: 100, taken: 30 });
  const lines = ['grant 100', 'charge -30', 'clawback -20', 'expire -50', 'restore 20', 'expire -20', 'clawback -30'];
  expect(await ledger(s, wallet)).toEqual(lines);
});

onEvery('a payment of a subscription begins its period once; one without a place is kept, paid and open', async (s) => {
  const [plan, customer, wallet] = [newId('plan'), newId('customer'), await s.wallet()];
  const own = newId('wallet');
  await s.recoup.wallets.open({ wallet: own, customer });
  await s.recoup.subscriptions.setPlan({ plan, credits: 100, every: 'month' });
  const subscription = newId('sub');
  await s.recoup.subscriptions.start({ subscription, customer, wallet: own, plan });
  const news = { payment: newId('stripe:in'), subscription, amount: 900, paid: true };
  expect(await s.recoup.payments.tell(news)).toEqual({ outcome: 'granted', granted: 100, taken: 0 });
  expect(await s.recoup.payments.tell({ ...news, refunded: 450 })).toEqual({
    outcome: 'adjusted',
    granted: 100,
    taken: 50,
  });
  await s.recoup.subscriptions.cancel({ subscription, at: 'now' });
  const late = { ...news, payment: newId('stripe:in') };
  for (let i = 0; i < 2; i++) expect(await answer(s.recoup.payments.tell(late))).toBe('subscription_ended');
  expect(await s.recoup.payments.list({ open: true })).toContainEqual(
    expect.objectContaining({ payment: late.payment, paid: true, granted: 0 }),
  );
  expect(await s.recoup.payments.missing([news.payment, late.payment, 'stripe:never'])).toEqual([
    late.payment,
    'stripe:never',
  ]);
  expect(await ledger(s, own)).toEqual(['grant 100', 'clawback -50']);
  expect(await ledger(s, wallet)).toEqual([]);
});

onEvery('what was told under two ids of one payment is of one, whichever came first', async (s) => {
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
    [0, 2, 1],
    [2, 0, 1],
  ]) {
    const wallet = await s.wallet();
    const [invoice, charge] = [newId('stripe:in'), newId('stripe:pi')];
    const news: TellPayment[] = [
      { payment: invoice, purchase: { wallet, credits: 100 }, amount: 1000, paid: true },
      { payment: invoice, also: charge },
      { payment: charge, refunded: 250, amount: 1000, dispute: { id: 'd', amount: 100, state: 'open' } },
    ];
    for (const index of order) await s.recoup.payments.tell(news[index]!);
    await s.recoup.payments.tell({ payment: charge, refunded: 300 });
    expect(await balance(s, wallet), order.join()).toBe(60);
    await Promise.all(news.map((one) => s.recoup.payments.tell(one)));
    expect(await balance(s, wallet), order.join()).toBe(60);
    expect(await s.recoup.payments.missing([invoice, charge])).toEqual([]);
  }
});

onEvery('what contradicts what was said is refused and changes nothing', async (s) => {
  const { wallet, tell, paid } = await bought(s);
  await tell(paid);
  const other = await s.wallet();
  for (const news of [
    { purchase: { wallet: other, credits: 100 } },
    { purchase: { wallet, credits: 99 } },
    { amount: 999 },
    { subscription: 'sub' },
  ])
    expect(await answer(tell({ ...news, refunded: 1000 })), JSON.stringify(news)).toBe('conflict');
  expect(await answer(tell({ purchase: { wallet, credits: 0 } }))).toBe('invalid');
  expect(await answer(tell({ purchase: { wallet, credits: 1 }, subscription: 's' }))).toBe('invalid');
  expect(await refusal(tell({ dispute: { id: 'd', amount: -1, state: 'open' } }))).toMatchObject({
    details: { field: 'dispute.amount' },
  });
  expect(await ledger(s, wallet)).toEqual(['grant 100']);
  const nobody = await refusal(
    s.recoup.payments.tell({ payment: newId('p'), purchase: { wallet: 'nobody', credits: 5 }, amount: 1, paid: true }),
  );
  expect(nobody.code).toBe('no_wallet');
});

test('what is to be taken grows with what was given back, never beyond what was granted and has not expired', () => {
  const dispute = fc.tuple(fc.nat(1000), fc.constantFrom('open' as const, 'won' as const, 'lost' as const));
  fc.assert(
    fc.property(
      fc.record({
        amount: fc.integer({ min: 1, max: 1000 }),
        refunded: fc.nat(1200),
        disputes: fc.dictionary(fc.constantFrom('a', 'b'), dispute),
        granted: fc.nat(500),
        expired: fc.nat(500),
      }),
      (worth) => {
        const taken = toBeTaken(worth);
        expect(taken).toBeGreaterThanOrEqual(0);
        expect(taken).toBeLessThanOrEqual(Math.max(worth.granted - worth.expired, 0));
        expect(toBeTaken({ ...worth, refunded: worth.refunded + 1 })).toBeGreaterThanOrEqual(taken);
        if (worth.refunded >= worth.amount) expect(taken).toBe(Math.max(worth.granted - worth.expired, 0));
      },
    ),
  );
});

onEvery('any order of a payment’s events comes to the same credit', async (s) => {
  const events = (wallet: string): Omit<TellPayment, 'payment'>[] => [
    { purchase: { wallet, credits: 70 } },
    { paid: true },
    { amount: 700 },
    { refunded: 100 },
    { refunded: 300 },
    { dispute: { id: 'a', amount: 200, state: 'open' } },
    { dispute: { id: 'a', amount: 200, state: 'won' } },
    { dispute: { id: 'b', amount: 150, state: 'lost' } },
    { dispute: { id: 'b', amount: 150, state: 'open' } },
  ];
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([...events('').keys()], { minLength: 9 }), async (order) => {
      const { wallet, tell } = await bought(s);
      const all = events(wallet);
      for (const index of order) await tell(all[index]!);
      expect(await balance(s, wallet)).toBe(70 - 45);
    }),
    { numRuns: 40, endOnFailure: true },
  );
});

onEvery('the books are right', booksAreRight);
