// Operations on payments: what a provider says of one, by your own backend or by its webhook; what is open, what is missing.
import Type from 'typebox';
import { PAYMENT_PROVIDERS } from '../payments/hooks.ts';
import { type Operation, operation } from './operation.ts';
import * as s from './schemas.ts';

const payment = Type.String({
  minLength: 1,
  maxLength: 150,
  description: 'The payment’s id at its provider, with the provider’s name.',
});
const DISPUTES = ['open', 'won', 'lost'] as const;
const tellFields = {
  purchase: s.optional(
    s.fields({
      wallet: s.wallet,
      credits: s.amount('What it buys.', 1),
      expiresAt: s.optional(s.instant('RFC 3339. When what is left of it expires.')),
      priority: s.optional(s.count('What is used first: 0 before 1.', 0, 9)),
    }),
  ),
  subscription: s.optional(s.id('Instead: the subscription whose period it pays for.')),
  also: s.optional(Type.String({ minLength: 1, maxLength: 150, description: 'Another id of the same payment.' })),
  amount: s.optional(s.amount('All of it, in the currency’s smallest unit.', 1)),
  paid: s.optional(s.flag('True once the money has come.')),
  refunded: s.optional(s.amount('How much was given back so far, all refunds together.')),
  dispute: s.optional(
    s.fields({ id: s.id('Of the dispute.'), amount: s.amount('The part in dispute.'), state: s.oneOf(DISPUTES) }),
  ),
};
const Payment = s.fields(
  {
    payment: Type.String(),
    wallet: s.orNull(Type.String()),
    subscription: s.orNull(Type.String()),
    amount: s.orNull(Type.Integer()),
    paid: Type.Boolean(),
    refunded: Type.Integer(),
    disputes: Type.Record(Type.String(), Type.Unknown(), { description: 'By id: amount and state.' }),
    granted: Type.Integer({ description: 'Credits; 0: none.' }),
    taken: Type.Integer({ description: 'How much of them is taken back at present.' }),
    firstAt: s.instant(),
    toldAt: s.instant(),
  },
  { title: 'Payment' },
);
const REFUSALS = [
  ...([
    'conflict',
    'no_wallet',
    'no_subscription',
    'already_subscribed',
    'subscription_ended',
    'balance_limit',
    'wallet_busy',
  ] as const),
];
const NOTHING = { headers: {}, body: Buffer.alloc(0) };

/** With instants as the library takes them. */
const told = <T extends { purchase?: { expiresAt?: string } }>({ purchase, ...rest }: T) => {
  if (purchase === undefined) return rest;
  const { expiresAt, ...bought } = purchase;
  return { ...rest, purchase: { ...bought, ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }) } };
};

export const payments: readonly Operation[] = [
  operation({
    name: 'payments.tell',
    summary: 'Say something of a payment, in any order and any number of times: its credit follows',
    description:
      'Granted once when it is paid; what is refunded or disputed is taken back in proportion, into debt if need be.',
    scopes: ['app', 'operator'],
    method: 'PUT',
    path: '/v1/payments/{payment}',
    params: s.fields({ payment }),
    query: s.none,
    body: s.fields(tellFields),
    output: s.fields(
      { outcome: s.outcome('payment.tell'), granted: Type.Integer(), taken: Type.Integer() },
      { title: 'ToldPayment' },
    ),
    errors: REFUSALS,
    run: ({ recoup }, input) => recoup.payments.tell(told(input) as Parameters<typeof recoup.payments.tell>[0]),
  }),
  operation({
    name: 'payments.list',
    summary: 'Payments, newest first; or only those that are paid and granted nothing',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/payments',
    params: s.none,
    query: s.fields({
      open: s.optional(s.flag('Only those that are paid and granted nothing: somebody has to look.')),
      before: s.optional(s.instant('RFC 3339. Only older ones.')),
      limit: s.limit,
    }),
    body: null,
    output: s.fields({ payments: Type.Array(Payment) }),
    errors: [],
    run: async ({ recoup }, { before, ...options }) => ({
      payments: await recoup.payments.list({ ...options, ...(before !== undefined && { before: new Date(before) }) }),
    }),
  }),
  operation({
    name: 'payments.missing',
    summary: 'Which of these are not known as paid and granted: a provider’s export against the ledger',
    scopes: ['app', 'viewer', 'support', 'operator'],
    method: 'POST',
    path: '/v1/batch/payments/missing',
    params: s.none,
    query: s.none,
    body: s.fields({ payments: Type.Array(s.id('An id of a payment.'), { minItems: 1, maxItems: 1000 }) }),
    output: s.fields({ missing: Type.Array(Type.String()) }),
    errors: [],
    writes: false,
    run: async ({ recoup }, { payments }) => ({ missing: await recoup.payments.missing(payments) }),
  }),
  operation({
    name: 'payments.take',
    summary: 'The webhook of a provider of payments',
    description:
      'Stripe signs with the secret of its endpoint; senders of yours after Standard Webhooks, with what `payments.tell` takes as the body.',
    scopes: 'signature',
    method: 'POST',
    path: '/v1/payment-webhooks/{provider}',
    params: s.fields({ provider: s.oneOf(PAYMENT_PROVIDERS, 'Who sends it.') }),
    query: s.none,
    body: Type.Object({}, { additionalProperties: true, description: 'As the provider documents it.' }),
    output: s.fields(
      {
        outcome: Type.String({ description: 'Of payment.tell; `ignored`, or `open`: kept for a person.' }),
        payment: s.orNull(Type.String()),
        code: s.orNull(Type.String({ description: 'Why it granted nothing.' })),
      },
      { title: 'PaymentTaken' },
    ),
    errors: ['bad_signature', ...REFUSALS],
    run: ({ payments, raw }, { provider }) => payments.take(provider, raw ?? NOTHING),
  }),
];
