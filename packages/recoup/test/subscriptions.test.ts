// Subscriptions: one of a customer lives, each period grants once, and nothing that is repeated or late grants twice.
import { expect } from 'vitest';
import type { StartSubscription } from '../src/index.ts';
import { answer, ledger, refusal, tally } from './support/look.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const DAY = 86_400_000;

/** A customer with a wallet, and plans of 100 and 300 credits a month. */
async function customer(s: Stage, at = '2026-01-31T10:00:00Z'): Promise<{ customer: string; wallet: string }> {
  await s.db.setClock(at);
  await s.recoup.subscriptions.setPlan({ plan: 'small', credits: 100, every: 'month', zone: 'Europe/Berlin' });
  await s.recoup.subscriptions.setPlan({ plan: 'large', credits: 300, every: 'month', zone: 'Europe/Berlin' });
  await s.recoup.subscriptions.setPlan({ plan: 'free', credits: 10, every: 'month', renews: 'itself' });
  const ids = { customer: newId('customer'), wallet: newId('wallet') };
  await s.recoup.wallets.open(ids);
  return ids;
}
const started = async (s: Stage, of: { customer: string; wallet: string }, more: Partial<StartSubscription> = {}) => {
  const subscription = newId('sub');
  expect(await answer(s.recoup.subscriptions.start({ subscription, plan: 'small', ...of, ...more }))).toBe('started');
  return subscription;
};
const active = async (s: Stage, at?: string, plan = 'small') => {
  const of = await customer(s, at);
  const subscription = await started(s, of, { plan });
  await s.recoup.subscriptions.pay({ subscription, key: 'first' });
  return { ...of, subscription };
};
const types = async (s: Stage, subscription: string) =>
  (await s.recoup.subscriptions.history(subscription)).map(({ type }) => type);

onEvery(
  'from checkout to the third period: each is granted once, and what is left of one expires with it',
  async (s) => {
    const { subscription, wallet } = await active(s);
    expect(await s.recoup.subscriptions.get(subscription)).toMatchObject({
      ...{ status: 'active', plan: 'small', period: 0, periodStart: new Date('2026-01-31T10:00:00Z') },
      periodEnd: new Date('2026-02-28T10:00:00Z'),
    });
    await s.queued(30, { wallet });
    await s.db.setClock('2026-02-28T10:30:00Z');
    expect(await s.recoup.subscriptions.pay({ subscription, key: 'second' })).toMatchObject({
      ...{ outcome: 'renewed', period: 1, granted: 100 },
      // The 31st comes back after February, and in summer time it is an hour earlier in UTC.
      periodEnd: new Date('2026-03-31T09:00:00Z'),
    });
    expect(await answer(s.recoup.subscriptions.pay({ subscription, key: 'second' }))).toBe('duplicate');
    expect(await answer(s.recoup.subscriptions.pay({ subscription, key: 'first' }))).toBe('duplicate');
    await s.recoup.sweep();
    expect(await ledger(s, wallet)).toEqual(['grant 100', 'charge -30', 'grant 100', 'expire -70']);
    expect(await types(s, subscription)).toEqual(['started', 'activated', 'renewed']);
  },
);

onEvery('20 activations at once of two checkouts make one; the other payment is kept', async (s) => {
  const of = await customer(s);
  const one = await started(s, of);
  const two = await started(s, of);
  expect(await s.recoup.subscriptions.get(one)).toMatchObject({ status: 'expired' });
  const replicas = await Promise.all([1, 2, 3, 4].map(() => s.replica()));
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      answer(replicas[n % 4]!.subscriptions.pay({ subscription: n % 2 === 0 ? one : two, key: `payment-of-${n % 2}` })),
    ),
  );
  expect(tally(answers)).toEqual({ activated: 1, duplicate: 9, already_subscribed: 10 });
  const live = (await s.recoup.subscriptions.list({ customer: of.customer })).subscriptions.filter(
    ({ status }) => status === 'active',
  );
  expect(live).toHaveLength(1);
  expect(await ledger(s, of.wallet)).toEqual(['grant 100']);
  const stray = (await s.recoup.subscriptions.strayPayments()).filter((payment) => payment.customer === of.customer);
  expect(stray).toHaveLength(1);
  const lost = live[0]!.subscription === one ? two : one;
  expect(await refusal(s.recoup.subscriptions.pay({ subscription: lost, key: 'another' }))).toMatchObject({
    code: 'already_subscribed',
    details: { other: live[0]!.subscription },
  });
});

onEvery(
  'a second checkout is refused before it pays while one is active or past due; a pending one makes way',
  async (s) => {
    const { customer: id, wallet, subscription } = await active(s);
    const again = { subscription: newId('sub'), customer: id, wallet, plan: 'large' };
    expect(await refusal(s.recoup.subscriptions.start(again))).toMatchObject({
      code: 'already_subscribed',
      details: { other: subscription },
    });
    expect(await answer(s.recoup.subscriptions.start({ ...again, subscription, plan: 'small' }))).toBe('duplicate');
    expect(await answer(s.recoup.subscriptions.start({ ...again, subscription }))).toBe('conflict');
    await s.db.setClock('2026-03-01T00:00:00Z');
    await s.recoup.sweep();
    expect(await s.recoup.subscriptions.get(subscription)).toMatchObject({ status: 'past_due' });
    expect(await answer(s.recoup.subscriptions.start(again))).toBe('already_subscribed');
    await s.db.advance(3 * DAY);
    await s.recoup.sweep();
    expect(await s.recoup.subscriptions.get(subscription)).toMatchObject({ status: 'expired' });
    expect(await answer(s.recoup.subscriptions.start(again))).toBe('started');
    expect(await types(s, subscription)).toEqual(['started', 'activated', 'past_due', 'expired']);
  },
);

onEvery('events out of order converge: a late payment revives what no other replaced', async (s) => {
  const { subscription, wallet } = await active(s);
  await s.db.setClock('2026-03-10T00:00:00Z');
  await s.recoup.sweep();
  await s.recoup.sweep();
  expect(await s.recoup.subscriptions.get(subscription)).toMatchObject({ status: 'expired' });
  expect(await s.recoup.subscriptions.pay({ subscription, key: 'late' })).toMatchObject({
    ...{ outcome: 'activated', period: 1, granted: 100, periodStart: new Date('2026-03-10T00:00:00Z') },
  });
  expect(await ledger(s, wallet)).toEqual(['grant 100', 'expire -100', 'grant 100']);
});

onEvery('after a long silence only the present period is granted, however many sweep', async (s) => {
  const of = await customer(s, '2024-02-29T23:30:00Z');
  const subscription = await started(s, of, { plan: 'free' });
  await s.recoup.subscriptions.pay({ subscription, key: 'free' });
  await s.db.setClock('2026-03-01T00:00:00Z');
  const replicas = await Promise.all([1, 2, 3].map(() => s.replica()));
  await Promise.all(replicas.map((replica) => replica.sweep()));
  await s.recoup.sweep();
  expect(await s.recoup.subscriptions.get(subscription)).toMatchObject({
    ...{ status: 'active', period: 24, periodStart: new Date('2026-02-28T23:30:00Z') },
    periodEnd: new Date('2026-03-29T23:30:00Z'),
  });
  expect((await ledger(s, of.wallet)).sort()).toEqual(['expire -10', 'grant 10', 'grant 10']);
});

onEvery('up, down and up again within a period grants no more than the fair difference', async (s) => {
  const { subscription, wallet } = await active(s, '2026-04-01T00:00:00Z', 'small');
  const to = (plan: string, from: 'now' | 'period' = 'now', key?: string) =>
    s.recoup.subscriptions.change({ subscription, plan, from, ...(key && { key }) });
  await s.db.setClock('2026-04-16T00:00:00Z');
  expect(await to('large')).toMatchObject({ outcome: 'plan_changed', granted: 100 });
  expect(await to('large')).toMatchObject({ outcome: 'duplicate', granted: 0 });
  expect(await to('small')).toMatchObject({ outcome: 'plan_changed', granted: 0 });
  expect(await to('large')).toMatchObject({ outcome: 'plan_changed', granted: 0 });
  await s.db.setClock('2026-04-23T12:00:00Z');
  for (let i = 0; i < 5; i++) {
    await to('small');
    await to('large');
  }
  expect(await ledger(s, wallet)).toEqual(['grant 100', 'grant 100']);
  expect(await to('small', 'period', 'k')).toMatchObject({ outcome: 'plan_planned', granted: 0 });
  expect(await to('large', 'period', 'k')).toMatchObject({ outcome: 'duplicate' });
  await s.db.setClock('2026-05-01T00:00:00Z');
  expect(await s.recoup.subscriptions.pay({ subscription, key: 'may' })).toMatchObject({ plan: 'small', granted: 100 });
});

onEvery('canceled with its period it ends then, now at once; what was granted stays', async (s) => {
  const one = await active(s);
  const cancel = (at: 'now' | 'period' | 'never') =>
    s.recoup.subscriptions.cancel({ subscription: one.subscription, at });
  expect(await cancel('period')).toMatchObject({ outcome: 'canceling', status: 'active' });
  expect(await cancel('period')).toMatchObject({ outcome: 'duplicate' });
  expect(await cancel('never')).toMatchObject({ outcome: 'resumed' });
  await cancel('period');
  await s.db.setClock('2026-02-28T10:00:00Z');
  await s.recoup.sweep();
  expect(await s.recoup.subscriptions.get(one.subscription)).toMatchObject({ status: 'expired' });
  expect(await answer(cancel('never'))).toBe('subscription_ended');
  const two = await active(s);
  expect(await answer(s.recoup.subscriptions.cancel({ subscription: two.subscription, at: 'now' }))).toBe('revoked');
  expect(await s.recoup.wallets.balance(two.wallet)).toMatchObject({ spendable: 100 });
  expect(await answer(s.recoup.subscriptions.pay({ subscription: two.subscription, key: 'next' }))).toBe(
    'subscription_ended',
  );
  expect(await answer(s.recoup.subscriptions.pay({ subscription: two.subscription, key: 'next' }))).toBe(
    'subscription_ended',
  );
  expect(await types(s, two.subscription)).toEqual(['started', 'activated', 'revoked', 'stray']);
});

onEvery('in the caller’s transaction the payment and its credit are there together, or not at all', async (s) => {
  const of = await customer(s);
  const subscription = await started(s, of);
  const undone = s.recoup.transaction(async ({ subscriptions, wallets }) => {
    await subscriptions.pay({ subscription, key: 'k' });
    expect((await wallets.balance(of.wallet)).booked).toBe(100);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await s.recoup.subscriptions.get(subscription)).toMatchObject({ status: 'pending' });
  expect(await ledger(s, of.wallet)).toEqual([]);
  await s.recoup.transaction(({ subscriptions }) => subscriptions.pay({ subscription, key: 'k' }));
  expect(await ledger(s, of.wallet)).toEqual(['grant 100']);
});

onEvery('the books are right', booksAreRight);
