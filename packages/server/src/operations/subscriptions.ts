// Operations on plans and subscriptions: checkout, payment, another plan, the end; what happened to one, payments without a place.
import Type from 'typebox';
import { type Operation, operation } from './operation.ts';
import * as s from './schemas.ts';

const subscription = Type.String({ minLength: 1, maxLength: 150, description: 'The id of the subscription, yours.' });
const plan = s.id('The id of the plan, yours.');
const key = (description: string) => s.id(description);
const actor = s.optional(s.id('Who did it.'));
const reason = s.optional(s.text('A short code that stays.', 200));
const EVERY = ['day', 'week', 'month', 'year'] as const;
const STATUSES = ['pending', 'active', 'past_due', 'expired', 'revoked'] as const;

const planFields = {
  credits: s.amount('What a period grants.', 1),
  every: s.oneOf(EVERY, 'The length of a period, in civil time of the zone.'),
  everyCount: s.count('So many of them; 1 unless set.', 1, 366),
  zone: Type.String({ minLength: 1, maxLength: 200, description: 'An IANA zone; UTC unless set.' }),
  renews: s.oneOf(
    ['paid', 'itself'] as const,
    'Whether each period has to be paid, or begins by itself; paid unless set.',
  ),
  expires: s.flag('Whether what is left of a period’s credit expires with it; true unless set.'),
  priority: s.count('Of its grants: 0 is used before 1; 5 unless set.', 0, 9),
  graceMs: s.durationMs('How long after its end a period may still be paid; 3 days unless set.'),
  status: s.oneOf(['on', 'off'] as const, 'Off: it takes nobody new.'),
};
const optionalFields = Object.fromEntries(
  Object.entries(planFields).map(([name, schema]) => [name, s.optional(schema)]),
) as { [N in keyof typeof planFields]: ReturnType<typeof s.optional<(typeof planFields)[N]>> };

const Plan = s.fields({ plan: Type.String(), ...planFields }, { title: 'Plan' });
const maybeInstant = s.orNull(s.instant());
const Subscription = s.fields(
  {
    subscription: Type.String(),
    customer: Type.String(),
    wallet: Type.String(),
    plan: Type.String(),
    nextPlan: s.orNull(Type.String({ description: 'The plan of the next period, where it is another one.' })),
    status: s.oneOf(STATUSES),
    period: s.orNull(Type.Integer({ description: 'The newest period that was granted, counted from 0.' })),
    periodStart: maybeInstant,
    periodEnd: maybeInstant,
    endsWithPeriod: Type.Boolean(),
    startedAt: s.instant(),
    endedAt: maybeInstant,
  },
  { title: 'Subscription' },
);
const SubscriptionEvent = s.fields(
  {
    number: Type.Integer(),
    type: Type.String({ description: 'started, activated, renewed, past_due, plan_changed, …' }),
    at: s.instant(),
    plan: Type.String(),
    period: s.orNull(Type.Integer()),
    key: s.orNull(Type.String()),
    actor: s.orNull(Type.String()),
    reason: s.orNull(Type.String()),
  },
  { title: 'SubscriptionEvent' },
);
const Paid = s.fields(
  {
    outcome: s.outcome('subscription.pay'),
    status: s.oneOf(STATUSES),
    plan: Type.String(),
    period: s.orNull(Type.Integer()),
    periodStart: maybeInstant,
    periodEnd: maybeInstant,
    granted: Type.Integer({ description: 'Credits; 0: nothing.' }),
  },
  { title: 'Paid' },
);
const StrayPayment = s.fields(
  {
    subscription: Type.String(),
    customer: Type.String(),
    number: Type.Integer(),
    key: Type.String({ description: 'Of the payment.' }),
    reason: s.orNull(Type.String()),
    at: s.instant(),
  },
  { title: 'StrayPayment' },
);

const ofPlan = s.fields({ plan });
const ofSubscription = s.fields({ subscription });
const cursor = s.optional(s.id('Where to go on: the `cursor` of the page before.'));
const READERS = ['app', 'viewer', 'support', 'operator'] as const;

const plans: readonly Operation[] = [
  operation({
    name: 'plans.set',
    summary: 'Set a plan: what a period grants, and how long it is',
    description:
      'A new plan needs `credits` and `every`; of one that is there what is not given stays. Periods that run stay as they are.',
    scopes: ['operator'],
    method: 'PUT',
    path: '/v1/plans/{plan}',
    params: ofPlan,
    query: s.none,
    body: s.fields(optionalFields),
    output: s.fields({ outcome: s.outcome('subscription.setPlan') }),
    errors: [],
    run: ({ recoup }, input) => recoup.subscriptions.setPlan(input),
  }),
  operation({
    name: 'plans.list',
    summary: 'Plans in the order of their ids, page by page',
    scopes: READERS,
    method: 'GET',
    path: '/v1/plans',
    params: s.none,
    query: s.fields({ cursor, limit: s.limit }),
    body: null,
    output: s.fields({ plans: Type.Array(Plan), cursor: s.nextCursor }, { title: 'PlanPage' }),
    errors: [],
    run: ({ recoup }, input) => recoup.subscriptions.plans(input),
  }),
];

const changes: readonly Operation[] = [
  operation({
    name: 'subscriptions.start',
    summary: 'Begin a checkout, before it is paid',
    description:
      'A second subscription of a customer is refused here, before money moves. A pending one of his makes way.',
    scopes: ['app', 'operator'],
    method: 'PUT',
    path: '/v1/subscriptions/{subscription}',
    params: ofSubscription,
    query: s.none,
    body: s.fields({
      customer: s.id('Who pays: an id of yours.'),
      wallet: s.id('The wallet of the customer that the credit goes to.'),
      plan,
      pendingMs: s.optional(
        s.durationMs('How long it waits for its payment; a day unless set.', 60_000, 2_592_000_000),
      ),
      actor,
    }),
    output: s.fields({ outcome: s.outcome('subscription.start') }),
    created: 'started',
    errors: ['no_plan', 'no_wallet', 'already_subscribed', 'conflict', 'wallet_busy'],
    run: ({ recoup }, input) => recoup.subscriptions.start(input),
  }),
  operation({
    name: 'subscriptions.pay',
    summary: 'A payment arrived: begin the subscription, or its next period',
    description:
      'The credit of the period is granted in the same transaction, once. A payment without a place is kept: see `subscriptions.strays`.',
    scopes: ['app', 'operator'],
    method: 'PUT',
    path: '/v1/subscriptions/{subscription}/payments/{key}',
    params: s.fields({
      subscription,
      key: key('Of the payment (an invoice, a charge): once per subscription, for ever.'),
    }),
    query: s.none,
    body: s.fields({ actor, reason }),
    output: Paid,
    errors: ['no_subscription', 'already_subscribed', 'subscription_ended', 'balance_limit', 'wallet_busy'],
    run: ({ recoup }, input) => recoup.subscriptions.pay(input),
  }),
  operation({
    name: 'subscriptions.change',
    summary: 'Another plan, now with a fair part of its credit, or from the next period',
    scopes: ['app', 'operator'],
    method: 'POST',
    path: '/v1/subscriptions/{subscription}/change',
    params: ofSubscription,
    query: s.none,
    body: s.fields({
      plan,
      from: s.oneOf(['now', 'period'] as const),
      key: s.optional(key('Of yours: said again with it, it changes nothing more.')),
      actor,
      reason,
    }),
    output: s.fields({ outcome: s.outcome('subscription.change'), granted: Type.Integer(), periodEnd: maybeInstant }),
    errors: ['no_subscription', 'subscription_ended', 'no_plan', 'balance_limit', 'wallet_busy'],
    run: ({ recoup }, input) => recoup.subscriptions.change(input),
  }),
  operation({
    name: 'subscriptions.cancel',
    summary: 'End it now or with its period, or take that back',
    scopes: ['app', 'support', 'operator'],
    method: 'POST',
    path: '/v1/subscriptions/{subscription}/cancel',
    params: ofSubscription,
    query: s.none,
    body: s.fields({
      at: s.oneOf(['now', 'period', 'never'] as const, 'Never: it goes on after all.'),
      key: s.optional(key('Of yours: said again with it, it changes nothing more.')),
      actor,
      reason,
    }),
    output: s.fields({ outcome: s.outcome('subscription.cancel'), status: s.oneOf(STATUSES) }),
    errors: ['no_subscription', 'subscription_ended', 'wallet_busy'],
    run: ({ recoup }, input) => recoup.subscriptions.cancel(input),
  }),
];

const reads: readonly Operation[] = [
  operation({
    name: 'subscriptions.get',
    summary: 'One subscription',
    scopes: READERS,
    method: 'GET',
    path: '/v1/subscriptions/{subscription}',
    params: ofSubscription,
    query: s.none,
    body: null,
    output: Subscription,
    errors: ['no_subscription'],
    run: ({ recoup }, input) => recoup.subscriptions.get(input.subscription),
  }),
  operation({
    name: 'subscriptions.history',
    summary: 'What happened to a subscription, oldest first',
    scopes: READERS,
    method: 'GET',
    path: '/v1/subscriptions/{subscription}/history',
    params: ofSubscription,
    query: s.none,
    body: null,
    output: s.fields({ events: Type.Array(SubscriptionEvent) }),
    errors: ['no_subscription'],
    run: async ({ recoup }, input) => ({ events: await recoup.subscriptions.history(input.subscription) }),
  }),
  operation({
    name: 'subscriptions.list',
    summary: 'Subscriptions of a customer, or of everybody, in the order of their ids, page by page',
    scopes: READERS,
    method: 'GET',
    path: '/v1/subscriptions',
    params: s.none,
    query: s.fields({
      customer: s.optional(s.id('Only of this customer.')),
      status: s.optional(s.oneOf(STATUSES, 'Only those.')),
      cursor,
      limit: s.limit,
    }),
    body: null,
    output: s.fields({ subscriptions: Type.Array(Subscription), cursor: s.nextCursor }, { title: 'SubscriptionPage' }),
    errors: [],
    run: ({ recoup }, input) => recoup.subscriptions.list(input),
  }),
  operation({
    name: 'subscriptions.strays',
    summary: 'Payments that could neither begin nor renew anything, newest first',
    description: 'Somebody has to give that money back.',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/stray-payments',
    params: s.none,
    query: s.fields({ before: s.optional(s.instant('RFC 3339. Only older ones.')), limit: s.limit }),
    body: null,
    output: s.fields({ payments: Type.Array(StrayPayment) }),
    errors: [],
    run: async ({ recoup }, { before, ...options }) => ({
      payments: await recoup.subscriptions.strayPayments({
        ...options,
        ...(before !== undefined && { before: new Date(before) }),
      }),
    }),
  }),
];

export const subscriptions: readonly Operation[] = [...plans, ...changes, ...reads];
