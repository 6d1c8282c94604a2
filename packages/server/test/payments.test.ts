// Webhooks of payments: Stripe's events signed by its own package, in any order and again; forgeries; senders of your own.
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readStripe } from '../src/payments/stripe.ts';
import { Api, type Json, newId } from './support/api.ts';

const secrets = {
  old: 'whsec_old-secret',
  stripe: 'whsec_test-secret',
  generic: `whsec_${randomBytes(24).toString('base64')}`,
};
let api: Api;
beforeAll(async () => {
  api = await Api.start({
    requireKeys: true,
    paymentSecrets: { stripe: [secrets.old, secrets.stripe], generic: [secrets.generic] },
  });
  api.use((await api.service.keys.create({ name: 'root', scopes: ['admin'] })).secret);
});
afterAll(async () => {
  expect((await api.service.recoup.verify()).problems).toEqual([]);
  await api.close();
});

const event = (type: string, object: Json) => ({
  id: newId('evt'),
  object: 'event',
  api_version: '2025-09-30',
  type,
  data: { object },
});
const post = (payload: unknown, options: { secret?: string; at?: number; header?: string } = {}) => {
  const body = JSON.stringify(payload);
  const { secret = secrets.stripe, at = Math.floor(Date.now() / 1000) } = options;
  const signature =
    options.header ?? Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: at });
  return api.send('POST', '/v1/payment-webhooks/stripe', body, { authorization: '', 'stripe-signature': signature });
};
const balance = async (wallet: string) => (await api.call('wallets.balance', { wallet })).booked;

const checkout = (wallet: string, intent: string, more: Json = {}) =>
  event('checkout.session.completed', {
    ...{ id: newId('cs'), object: 'checkout.session', mode: 'payment', payment_status: 'paid', payment_intent: intent },
    ...{ amount_total: 1000, currency: 'eur', metadata: { recoup_wallet: wallet, recoup_credits: '100' }, ...more },
  });
const charge = (intent: string, refunded: number) =>
  event('charge.refunded', {
    id: newId('ch'),
    object: 'charge',
    amount: 1000,
    amount_refunded: refunded,
    payment_intent: intent,
  });
const dispute = (intent: string, status: string, id = 'dp_1') =>
  event('charge.dispute.updated', { id, object: 'dispute', amount: 600, status, charge: 'ch', payment_intent: intent });

async function wallet(): Promise<string> {
  const id = newId('wallet');
  await api.call('wallets.open', { wallet: id, customer: id });
  return id;
}

describe('Stripe', () => {
  test('a checkout, told twice, grants once; refunds and a dispute net exactly, whatever comes first', async () => {
    const [id, intent] = [await wallet(), newId('pi')];
    const paid = checkout(id, intent);
    const early = await post(charge(intent, 400));
    expect(early.body).toEqual({ outcome: 'told', payment: `stripe:${intent}`, code: null });
    expect((await post(paid)).body).toMatchObject({ outcome: 'granted' });
    expect((await post(paid)).body).toMatchObject({ outcome: 'told' });
    expect(await balance(id)).toBe(60);
    for (const status of ['warning_needs_response', 'needs_response', 'under_review'])
      await post(dispute(intent, status));
    expect(await balance(id)).toBe(0);
    await post(dispute(intent, 'won'));
    expect(await balance(id)).toBe(60);
    await post(dispute(intent, 'needs_response'));
    await post(charge(intent, 1000));
    expect(await balance(id)).toBe(0);
    expect((await api.call('payments.missing', { payments: [`stripe:${intent}`] })).missing).toEqual([]);
  });

  test('invoices pay for the periods of a subscription, each once; its refund is found by the charge', async () => {
    const [id, plan, subscription] = [await wallet(), newId('plan'), newId('sub')];
    await api.call('plans.set', { plan, credits: 100, every: 'month' });
    await api.call('subscriptions.start', { subscription, customer: id, wallet: id, plan });
    const [invoice, intent] = [newId('in'), newId('pi')];
    const details = { subscription_details: { metadata: { recoup_subscription: subscription } } };
    const paid = { id: invoice, object: 'invoice', amount_paid: 900, parent: details };
    expect((await post(event('invoice.paid', paid))).body).toMatchObject({
      outcome: 'granted',
      payment: `stripe:${invoice}`,
    });
    expect((await post(event('invoice.payment_succeeded', paid))).body).toMatchObject({ outcome: 'told' });
    expect(await balance(id)).toBe(100);
    await post(event('charge.refunded', { id: 'ch', amount: 900, amount_refunded: 450, payment_intent: intent }));
    expect(await balance(id)).toBe(100);
    await post(
      event('invoice_payment.paid', {
        id: 'inpay',
        invoice,
        payment: { type: 'payment_intent', payment_intent: intent },
      }),
    );
    expect(await balance(id)).toBe(50);
    await api.call('subscriptions.cancel', { subscription, at: 'now' });
    const late = { ...paid, id: newId('in') };
    for (let i = 0; i < 2; i++)
      expect(await post(event('invoice.paid', late))).toMatchObject({
        status: 200,
        body: { outcome: 'open', code: 'subscription_ended' },
      });
    const { payments } = await api.call('payments.list', { open: true });
    expect(payments).toContainEqual(expect.objectContaining({ payment: `stripe:${late.id}`, granted: 0, paid: true }));
  });

  test.each([
    ['another secret', { secret: 'whsec_other' }],
    ['a signature of an hour ago', { at: Math.floor(Date.now() / 1000) - 3600 }],
    ['none', { header: '' }],
    ['half of one', { header: 't=1,v1=' }],
  ])('%s is refused, and nothing is granted', async (_, options) => {
    const id = await wallet();
    expect(await post(checkout(id, newId('pi')), options)).toMatchObject({
      status: 401,
      body: { code: 'bad_signature' },
    });
    expect(await balance(id)).toBe(0);
  });

  test('what moves no credit is ignored; a wallet that is not there yet is asked for again', async () => {
    const ignored = [
      event('customer.created', { id: 'cus' }),
      checkout('w', 'pi', { mode: 'subscription' }),
      checkout('w', 'pi', { metadata: {} }),
      event('invoice.paid', { id: 'in', amount_paid: 5 }),
      event('charge.refunded', { id: 'ch', amount: 5, amount_refunded: 0 }),
      { id: 'evt', object: 'event', type: 'invoice.paid' },
    ];
    for (const one of ignored)
      expect(await post(one), one.type).toMatchObject({ status: 200, body: { outcome: 'ignored' } });
    const [id, intent] = [newId('later'), newId('pi')];
    const paid = checkout(id, intent, { metadata: { recoup_credits: '7' }, client_reference_id: id });
    expect(await post(paid)).toMatchObject({ status: 404, body: { code: 'no_wallet' } });
    await api.call('wallets.open', { wallet: id, customer: id });
    expect((await post(paid)).body).toMatchObject({ outcome: 'granted' });
    expect(await balance(id)).toBe(7);
  });

  test('an amount that no invoice has is left out', () => {
    const free = checkout('w', 'pi', { amount_total: 0, payment_status: 'no_payment_required' });
    expect(readStripe(free)).toEqual({ payment: 'stripe:pi', purchase: { wallet: 'w', credits: 100 }, paid: true });
  });
});

test('a sender of your own signs what payments.tell takes', async () => {
  const id = await wallet();
  const send = (payload: unknown, secret = secrets.generic) => {
    const body = JSON.stringify(payload);
    const [message, at] = [newId('msg'), new Date()];
    return api.send('POST', '/v1/payment-webhooks/generic', body, {
      authorization: '',
      'webhook-id': message,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(message, at, body),
    });
  };
  const purchase = { wallet: id, credits: 10, expiresAt: '2040-01-01T00:00:00Z' };
  const told = { payment: newId('bank'), purchase, amount: 100, paid: true };
  expect((await send(told)).body).toMatchObject({ outcome: 'granted' });
  expect((await send({ ...told, refunded: 50 })).body).toMatchObject({ outcome: 'adjusted' });
  expect((await api.call('wallets.balance', { wallet: id })).expiring).toEqual([
    { amount: 5, at: '2040-01-01T00:00:00.000Z' },
  ]);
  const wrong = [
    { ...told, amuont: 1 },
    { ...told, refunded: -1 },
    { ...told, purchase: { ...purchase, expiresAt: 'soon' } },
  ];
  for (const one of wrong) expect(await send(one)).toMatchObject({ status: 400, body: { code: 'invalid' } });
  expect(await send({ ...told, amount: 101 })).toMatchObject({ status: 409, body: { code: 'conflict' } });
  const other = `whsec_${randomBytes(24).toString('base64')}`;
  expect(await send(told, other)).toMatchObject({ status: 401, body: { code: 'bad_signature' } });
  const answer = await api.send('POST', '/v1/payment-webhooks/paypal', '{}', { authorization: '' });
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid', field: 'provider' } });
});
