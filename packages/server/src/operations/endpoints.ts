// Operations on webhook endpoints: who is told of what happens, what was delivered, what is sent again.
import { EVENT_KINDS } from 'recoup';
import Type from 'typebox';
import { type Operation, operation } from './operation.ts';
import * as s from './schemas.ts';

const endpoint = s.id('The id of the endpoint, yours.');
const endpointKey = s.fields({ endpoint });
const url = Type.String({
  minLength: 1,
  maxLength: 2000,
  description:
    'https or http, without user and password. Only public addresses are sent to, unless others are allowed.',
});
const kinds = Type.Array(s.oneOf(EVENT_KINDS), {
  minItems: 1,
  maxItems: EVENT_KINDS.length,
  description: `What it is told of: ${EVENT_KINDS.join(', ')}.`,
});
const lowBalance = s.signedAmount('`wallet.low` is a balance that falls below it.');
const secret = Type.String({
  minLength: 1,
  maxLength: 200,
  description: '`whsec_` and the base64 of 24 to 64 bytes; one is made unless given.',
});
const status = s.oneOf(['on', 'off'], 'Off: nothing is sent until it is on.');
const delivery = s.id('The `webhook-id`.');
const maybeText = s.orNull(Type.String());
const maybeInstant = s.orNull(s.instant());

const Endpoint = s.fields(
  {
    endpoint: Type.String(),
    url: Type.String(),
    kinds: Type.Array(s.oneOf(EVENT_KINDS)),
    status: s.oneOf(['on', 'off', 'gone'], '`gone`: it answered 410; switch it on again.'),
    lowBalance: s.orNull(Type.Integer()),
    registeredAt: s.instant(),
    lookedAt: s.instant('When events were last looked for; to the minute where nothing happens.'),
    pending: Type.Integer({ description: 'Deliveries to be sent, counted up to 10,000.' }),
    dead: Type.Integer({ description: 'Deliveries that were given up, counted up to 10,000.' }),
    oldestDueMs: s.orNull(Type.Integer({ description: 'How long the oldest has been due.' })),
  },
  { title: 'WebhookEndpoint' },
);

const Delivery = s.fields(
  {
    delivery: Type.String({ description: 'Its `webhook-id`: the same each time it is sent.' }),
    endpoint: Type.String(),
    kind: s.oneOf([...EVENT_KINDS, 'endpoint.test']),
    state: s.oneOf(['pending', 'delivered', 'dead']),
    happenedAt: s.instant(),
    dueAt: maybeInstant,
    attempt: Type.Integer({ description: 'How often it was sent.' }),
    tries: Type.Integer({ description: 'How often since the event, or since it was last replayed.' }),
    lastAt: maybeInstant,
    lastStatus: s.orNull(Type.Integer({ description: 'What the endpoint answered.' })),
    lastError: maybeText,
    endedAt: maybeInstant,
    payload: Type.Unknown({ description: 'The body.' }),
  },
  { title: 'WebhookDelivery' },
);

const shownOnce = Type.String({ description: 'Verify signatures with it. Shown this once.' });

const endpoints: readonly Operation[] = [
  operation({
    name: 'webhookEndpoints.register',
    summary: 'Have a URL told of what happens from now on; its secret is shown this once',
    description: 'After a lost answer the endpoint may be there and its secret unknown: rotate it.',
    scopes: ['operator'],
    method: 'PUT',
    path: '/v1/webhook-endpoints/{endpoint}',
    params: endpointKey,
    query: s.none,
    body: s.fields({
      url,
      kinds,
      lowBalance: s.optional(lowBalance),
      secret: s.optional(secret),
      status: s.optional(status),
    }),
    output: s.fields({ outcome: s.outcome('webhook.register'), secret: s.orNull(shownOnce) }),
    created: 'registered',
    repeatable: false,
    errors: ['conflict'],
    run: ({ recoup }, input) => recoup.webhooks.register(input),
  }),
  operation({
    name: 'webhookEndpoints.change',
    summary: 'Change what is given of an endpoint, and leave the rest',
    description: 'What happened while it was off is told when it is on again, unless `skip`.',
    scopes: ['operator'],
    method: 'PATCH',
    path: '/v1/webhook-endpoints/{endpoint}',
    params: endpointKey,
    query: s.none,
    body: s.fields({
      url: s.optional(url),
      kinds: s.optional(kinds),
      lowBalance: s.optional(s.orNull(lowBalance)),
      status: s.optional(status),
      skip: s.optional(s.flag('Leave out what happened until now and was not delivered yet.')),
    }),
    output: s.fields({ outcome: s.outcome('webhook.change') }),
    errors: ['no_endpoint'],
    run: ({ recoup }, input) => recoup.webhooks.change(input),
  }),
  operation({
    name: 'webhookEndpoints.rotate',
    summary: 'Another secret, shown this once; the one of before signs too for a while',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/webhook-endpoints/{endpoint}/rotate',
    params: endpointKey,
    query: s.none,
    body: s.fields({
      secret: s.optional(secret),
      keepMs: s.optional(s.durationMs('How long the one of before signs too; a day unless set.')),
    }),
    output: s.fields({ outcome: s.outcome('webhook.rotate'), secret: shownOnce }),
    repeatable: false,
    errors: ['no_endpoint'],
    run: ({ recoup }, input) => recoup.webhooks.rotate(input),
  }),
  operation({
    name: 'webhookEndpoints.remove',
    summary: 'Remove an endpoint, with its secrets and deliveries',
    scopes: ['operator'],
    method: 'DELETE',
    path: '/v1/webhook-endpoints/{endpoint}',
    params: endpointKey,
    query: s.none,
    body: null,
    output: s.fields({ outcome: s.outcome('webhook.remove') }),
    errors: [],
    run: ({ recoup }, { endpoint }) => recoup.webhooks.remove(endpoint),
  }),
  operation({
    name: 'webhookEndpoints.list',
    summary: 'All endpoints, with what is still to be sent to each',
    scopes: ['operator'],
    method: 'GET',
    path: '/v1/webhook-endpoints',
    params: s.none,
    query: s.none,
    body: null,
    output: s.fields({ endpoints: Type.Array(Endpoint) }),
    errors: [],
    run: async ({ recoup }) => ({ endpoints: await recoup.webhooks.list() }),
  }),
  operation({
    name: 'webhookEndpoints.get',
    summary: 'One endpoint',
    scopes: ['operator'],
    method: 'GET',
    path: '/v1/webhook-endpoints/{endpoint}',
    params: endpointKey,
    query: s.none,
    body: null,
    output: Endpoint,
    errors: ['no_endpoint'],
    run: ({ recoup }, { endpoint }) => recoup.webhooks.get(endpoint),
  }),
];

const deliveries: readonly Operation[] = [
  operation({
    name: 'webhookEndpoints.test',
    summary: 'Send something to an endpoint, for a try: its delivery tells how it went',
    description: 'With a `key` of yours it is sent once, however often it is asked for.',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/webhook-endpoints/{endpoint}/test',
    params: endpointKey,
    query: s.none,
    body: s.fields({ key: s.optional(s.id('A key of yours.')) }),
    output: s.fields({ outcome: s.outcome('webhook.test'), delivery: Type.String() }),
    errors: ['no_endpoint'],
    run: ({ recoup }, input) => recoup.webhooks.test(input),
  }),
  operation({
    name: 'webhookEndpoints.replay',
    summary: 'Send again what was delivered or given up: one, all since an instant, or all dead ones',
    description: 'With the ids of before: a receiver that has one may leave it out. What is pending stays as it is.',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/webhook-endpoints/{endpoint}/replay',
    params: endpointKey,
    query: s.none,
    body: s.fields({
      delivery: s.optional(s.id('This one alone.')),
      since: s.optional(s.instant('RFC 3339. Events of this instant or later.')),
      dead: s.optional(s.flag('Dead ones only.')),
    }),
    output: s.fields({ replayed: Type.Integer() }),
    errors: ['no_endpoint', 'no_delivery'],
    run: ({ recoup }, { since, ...input }) =>
      recoup.webhooks.replay({ ...input, ...(since === undefined ? {} : { since: new Date(since) }) }),
  }),
  operation({
    name: 'webhookDeliveries.list',
    summary: 'What was and is to be delivered to an endpoint, the newest events first, page by page',
    scopes: ['operator'],
    method: 'GET',
    path: '/v1/webhook-endpoints/{endpoint}/deliveries',
    params: endpointKey,
    query: s.fields({
      state: s.optional(s.oneOf(['pending', 'delivered', 'dead'], 'Only those.')),
      cursor: s.cursor,
      limit: s.limit,
    }),
    body: null,
    output: s.fields({ deliveries: Type.Array(Delivery), cursor: s.nextCursor }, { title: 'WebhookDeliveryPage' }),
    errors: ['no_endpoint', 'no_delivery'],
    run: async ({ recoup }, { endpoint, cursor, limit = 100, ...filter }) => {
      const after = cursor === undefined ? {} : { after: cursor };
      const deliveries = await recoup.webhooks.deliveries(endpoint, { ...filter, ...after, limit });
      return { deliveries, cursor: deliveries.length === limit ? deliveries.at(-1)!.delivery : null };
    },
  }),
  operation({
    name: 'webhookDeliveries.get',
    summary: 'One delivery: what is sent, and how its last try went',
    scopes: ['operator'],
    method: 'GET',
    path: '/v1/webhook-deliveries/{delivery}',
    params: s.fields({ delivery }),
    query: s.none,
    body: null,
    output: Delivery,
    errors: ['no_delivery'],
    run: ({ recoup }, { delivery }) => recoup.webhooks.delivery(delivery),
  }),
];

export const webhookEndpoints: readonly Operation[] = [...endpoints, ...deliveries];
