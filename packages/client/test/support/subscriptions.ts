// The operations on plans and subscriptions, each once through the client.
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import type { RecoupClient } from '../../src/index.ts';
import { collect, newId } from './stand.ts';

export async function plansAndSubscriptions(client: RecoupClient, secret: string): Promise<void> {
  const [plan, subscription] = [newId('a/plan ä'), newId('a/subscription ä')];
  const of = { customer: newId('customer'), wallet: newId('wallet') };
  await client.wallets.open(of);
  expect(await client.plans.set({ plan, credits: 100, every: 'month' })).toEqual({ outcome: 'set' });
  expect(await client.plans.set({ plan, credits: 100 })).toEqual({ outcome: 'duplicate' });
  expect(await collect(client.plans.list.each({ limit: 1 }))).toContainEqual(
    expect.objectContaining({ plan, zone: 'UTC' }),
  );
  expect((await client.plans.list()).plans).toContainEqual(expect.objectContaining({ plan, every: 'month' }));
  expect(await client.subscriptions.start({ subscription, plan, ...of })).toEqual({ outcome: 'started' });
  const paid = await client.subscriptions.pay({ subscription, key: 'invoice/1' });
  expect(paid).toMatchObject({ outcome: 'activated', status: 'active', period: 0, granted: 100 });
  expect(await client.subscriptions.pay({ subscription, key: 'invoice/1' })).toMatchObject({ outcome: 'duplicate' });
  const other = { subscription: newId('subscription'), plan, ...of };
  await expect(client.subscriptions.start(other)).rejects.toMatchObject({ code: 'already_subscribed', status: 409 });
  expect(await client.subscriptions.change({ subscription, plan, from: 'now' })).toMatchObject({
    outcome: 'duplicate',
  });
  expect(await client.subscriptions.cancel({ subscription, at: 'period' })).toEqual({
    outcome: 'canceling',
    status: 'active',
  });
  expect(await client.subscriptions.get({ subscription })).toMatchObject({ endsWithPeriod: true });
  const { events } = await client.subscriptions.history({ subscription });
  expect(events.map(({ type }) => type)).toEqual(['started', 'activated', 'canceling']);
  const own = await collect(client.subscriptions.list.each({ customer: of.customer, limit: 1 }));
  expect(own).toHaveLength(1);
  expect((await client.subscriptions.list({ customer: of.customer })).subscriptions).toEqual(own);
  expect((await client.subscriptions.strays({ limit: 1 })).payments).toEqual([]);
  const payment = newId('a/payment ä');
  const bought = { payment, purchase: { wallet: of.wallet, credits: 50 }, amount: 500, paid: true };
  expect(await client.payments.tell(bought)).toEqual({ outcome: 'granted', granted: 50, taken: 0 });
  expect(await client.payments.tell({ payment, refunded: 250 })).toEqual({
    outcome: 'adjusted',
    granted: 50,
    taken: 25,
  });
  expect((await client.payments.list({ limit: 1 })).payments).toMatchObject([{ payment, taken: 25 }]);
  expect(await client.payments.missing({ payments: [payment, 'none'] })).toEqual({ missing: ['none'] });
  const body = JSON.stringify({ payment, refunded: 500 });
  const now = new Date();
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', now, body),
  };
  const taken = await client.payments.take({ provider: 'generic', body }, { headers });
  expect(taken).toEqual({ outcome: 'adjusted', payment, code: null });
  const unsigned = client.payments.take({ provider: 'generic', body: { payment } });
  await expect(unsigned).rejects.toMatchObject({ code: 'bad_signature', status: 401 });
  const pool = newId('a/pool ä');
  expect(await client.probes.set({ pool, graceMs: 5000, timeoutMs: 1000 })).toEqual({ outcome: 'set' });
  expect((await client.probes.probers()).probers).toContainEqual(expect.objectContaining({ pool, kind: 'function' }));
  expect(await client.probes.list({ limit: 1 })).toEqual({ probes: [], cursor: null });
  expect(await collect(client.probes.list.each({ limit: 1 }))).toEqual([]);
  expect((await client.probes.report({ pool })).scores).toEqual([]);
  expect(await client.probes.preview({ pool })).toEqual({ count: 0, left: 0 });
  const asked = await collect(client.probes.recheck({ pool, confirm: 0, actor: 'ann', withinMs: 0 }));
  expect(asked.at(-1)).toMatchObject({ of: 0, open: 0, ended: true });
  expect(await client.probes.remove({ pool })).toEqual({ outcome: 'removed' });
  await expect(client.subscriptions.get({ subscription: 'none' })).rejects.toMatchObject({ code: 'no_subscription' });
}
