// Bad input over HTTP: refused with the field named, nothing changed, never a 500; ids of every kind are never confused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, type Input, newId } from './support/api.ts';

let api: Api;
let wallet: string;
beforeAll(async () => {
  api = await Api.start();
  wallet = await api.wallet();
  await api.call('jobs.submit', { wallet, job: 'there', queue: 'q', price: 1 });
});
afterAll(async () => {
  expect((await api.service.recoup.verify()).problems).toEqual([]);
  await api.close();
});

/** Everything that a refused call could have changed. */
const state = async () => {
  const tables = ['wallets', 'entries', 'jobs', 'attempts', 'queues', 'api_keys', 'lease_requests'];
  return Promise.all(
    tables.map((table) => api.db.query(`select to_json(t)::text as row from recoup.${table} t order by 1`)),
  );
};

const amounts = [-1, 0.5, '40', 1e308, 2 ** 53, null, true, [], {}];
const cases: [string, string, Input, string?][] = [
  ...amounts.map((price): [string, string, Input] => ['jobs.submit', 'price', { job: 'x', queue: 'q', price }]),
  ...amounts.map((amount): [string, string, Input] => ['wallets.grant', 'amount', { key: 'k', amount }]),
  ...[0, ...amounts.slice(1)].map((amount): [string, string, Input] => [
    'wallets.adjust',
    'amount',
    { key: 'k', amount },
  ]),
  ...amounts.map((finalPrice): [string, string, Input] => ['jobs.settle', 'finalPrice', { job: 'there', finalPrice }]),
  ...amounts.map((keep): [string, string, Input] => ['jobs.cancel', 'keep', { job: 'there', keep }]),
  ...amounts.map((finalPrice): [string, string, Input] => ['jobs.succeed', 'finalPrice', { job: 'there', finalPrice }]),
  ['jobs.submit', 'price', { job: 'x', queue: 'q' }],
  ['jobs.submit', 'queue', { job: 'x', price: 1 }],
  ['jobs.submit', 'queue', { job: 'x', queue: 5, price: 1 }],
  ['jobs.submit', 'queue', { job: 'x', queue: '*', price: 1 }],
  ['jobs.submit', 'prise', { job: 'x', queue: 'q', price: 1, prise: 2 }],
  ['jobs.submit', 'priority', { job: 'x', queue: 'q', price: 1, priority: 10 }],
  ['jobs.submit', 'notBefore', { job: 'x', queue: 'q', price: 1, notBefore: 'tomorrow' }],
  ['jobs.submit', 'notBefore', { job: 'x', queue: 'q', price: 1, notBefore: '2026-02-30T00:00:00Z' }],
  ['jobs.submit', 'labels.a', { job: 'x', queue: 'q', price: 1, labels: { a: 1 } }],
  ['jobs.submit', 'deadlineMs', { job: 'x', queue: 'q', price: 1, deadlineMs: 5 }],
  ['jobs.submit', 'payload.a', { job: 'x', queue: 'q', price: 1, payload: { a: 'nul \u0000' } }],
  ['jobs.submit', 'payload', { job: 'x', queue: 'q', price: 1, payload: 'x'.repeat(1_048_600) }],
  [
    'jobs.submitMany',
    'items[1].price',
    {
      items: [
        { wallet: 'w', job: 'x', queue: 'q', price: 1 },
        { wallet: 'w', job: 'y', queue: 'q' },
      ],
    },
  ],
  // What only the library's own checks refuse names the item too.
  ...(
    [
      ['jobs.submitMany', 'payload.a', { job: 'x', queue: null, price: 1, payload: { a: 'nul \u0000' } }],
      ['jobs.submitMany', 'priority', { job: 'x', queue: null, price: 1, priority: 1 }],
      ['jobs.submitMany', 'job', { job: '..', queue: null, price: 1 }],
      ['jobs.succeedMany', 'result', { job: 'x', result: 'nul \u0000' }],
      ['jobs.failMany', 'wallet', { wallet: '.', job: 'x' }],
      ['wallets.grantMany', 'note', { key: 'k', amount: 1, note: 'nul \u0000' }],
    ] as const
  ).map(([name, field, bad]): [string, string, Input] => {
    const { payload, priority, result, note, ...good } = { payload: 0, priority: 0, result: 0, note: 0, ...bad };
    const fine = { ...good, wallet: 'w', ...('job' in good ? { job: 'fine' } : {}) };
    return [name, `items[1].${field}`, { items: [fine, { wallet: 'w', ...bad }] }];
  }),
  ['jobs.submitMany', 'items', { items: [] }],
  ['jobs.fail', 'attempt', { job: 'there', attempt: 0 }],
  ['jobs.fail', 'attempt', { job: 'there', attempt: '1' }],
  ['jobs.fail', 'verdict', { job: 'there', attempt: 1, verdict: 'perhaps' }],
  ['jobs.extend', 'attempt', { job: 'there' }],
  ['queues.lease', 'count', { queue: 'q', count: 501 }],
  ['queues.lease', 'waitMs', { queue: 'q', waitMs: 60_001 }],
  ['queues.configure', 'leaseMs', { queue: 'q', leaseMs: 1 }],
  ['queues.configure', 'lease', { queue: 'q', lease: 1 }],
  ['wallets.open', 'customer', {}],
  ['wallets.change', 'status', { status: 'gone' }],
  ['wallets.balance', 'at', { at: 'yesterday' }],
  ['wallets.balance', 'when', { when: '2026-01-01T00:00:00Z' }],
  ['wallets.entries', 'limit', { limit: '1.0' }],
  ['wallets.entries', 'limit', { limit: '0x10' }],
  ['wallets.entries', 'limit', { limit: 1001 }],
  ['wallets.entries', 'newestFirst', { newestFirst: 'yes' }],
  ['wallets.entries', 'cursor', { cursor: '-1' }],
  ['deadLetters.list', 'cursor', { cursor: 'nonsense', wallet: undefined }],
  [
    'deadLetters.list',
    'cursor',
    { cursor: Buffer.from('["2026-02-30T00:00:00Z","a","b"]').toString('base64url'), wallet: undefined },
  ],
  [
    'feed.read',
    'cursor',
    { cursor: Buffer.from('["1","entry","a\\u0000","",1,""]').toString('base64url'), wallet: undefined },
  ],
  ['keys.create', 'name', { name: 'a\u0000b', scopes: ['app'], wallet: undefined }],
  ['keys.create', 'customer', { name: 'n', scopes: ['viewer'], customer: 'a\u0000b', wallet: undefined }],
  ['keys.create', 'scopes[0]', { name: 'n', scopes: ['root'], wallet: undefined }],
  ['keys.create', 'scopes', { name: 'n', scopes: ['app'], customer: 'c', wallet: undefined }],
  ['callbacks.sign', 'provider', { job: 'there', provider: 'nobody' }],
];

/** Operations that name no wallet must not be given one. */
const withWallet = (name: string, input: Input): Input =>
  /^(wallets|jobs|callbacks)\./.test(name) && !/Many$/.test(name) ? { wallet, ...input } : input;

test.each(cases)('%s names %s: %j', async (name, field, input) => {
  const before = await state();
  const problem = await api.refused(name, 'invalid', withWallet(name, input));
  expect(problem.status).toBe(400);
  expect(problem.field).toBe(field);
  expect(problem.detail.startsWith(`${field}: `)).toBe(true);
  expect(JSON.stringify(problem)).not.toMatch(/\bat .*\.(ts|js):\d+|node_modules/);
  expect(await state()).toEqual(before);
});

describe('bodies', () => {
  const path = () => `/v1/wallets/${wallet}/jobs/body`;
  test.each([
    ['no JSON', '{', 400, 'invalid'],
    ['not an object', '[]', 400, 'invalid'],
    ['null', 'null', 400, 'invalid'],
    ['a number', '1', 400, 'invalid'],
    ['a prototype beside the fields', '{"price":1,"queue":null,"__proto__":{}}', 400, 'invalid'],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400, 'invalid'],
    ['an integer beyond 2^53', '{"queue":null,"price":9007199254740993}', 400, 'invalid'],
    ['larger than the limit', `{"payload":"${'x'.repeat(4_200_000)}"}`, 413, 'too_large'],
  ])('%s', async (_, body, status, code) => {
    const answer = await api.send('PUT', path(), body);
    expect(answer).toMatchObject({ status, body: { code, status } });
    await api.refused('jobs.get', 'no_job', { wallet, job: 'body' });
  });

  test.each(['__proto__', 'constructor', 'prototype', 'toString'])(
    'content with a key %s is JSON, and kept as it is',
    async (name) => {
      const content = `{"a":1,${JSON.stringify(name)}:{"prototype":{"admin":true}}}`;
      const job = newId('odd');
      const at = `/v1/wallets/${wallet}/jobs/${job}`;
      const submitted = await api.send('PUT', at, `{"price":0,"queue":null,"payload":${content}}`);
      expect(submitted.status).toBe(201);
      expect((await api.send('POST', `${at}/succeed`, `{"result":${content}}`)).status).toBe(200);
      const { payload, result } = await api.call('jobs.get', { wallet, job });
      expect([JSON.parse(content), JSON.parse(content)].map((one) => JSON.stringify(one))).toEqual(
        [payload, result].map((one) => JSON.stringify(one)),
      );
      expect(({} as { admin?: boolean }).admin).toBeUndefined();
    },
  );

  test('another media type, or none, is refused; an absent body is an empty one where nothing is needed', async () => {
    const other = await api.send('PUT', path(), 'price=1', { 'content-type': 'application/x-www-form-urlencoded' });
    expect(other).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
    expect(await api.send('PUT', path())).toMatchObject({ status: 400, body: { field: 'queue' } });
    expect((await api.send('POST', `/v1/wallets/${wallet}/jobs/there/cancel`)).status).toBe(200);
  });

  test('a field given twice in the query, and a path that is not percent-encoded UTF-8', async () => {
    const twice = await api.send('GET', `/v1/wallets/${wallet}/entries?limit=1&limit=2`);
    expect(twice).toMatchObject({ status: 400, body: { field: 'limit' } });
    for (const bad of ['%zz', '%ff', '%c3%28']) {
      expect(await api.raw('GET', `/v1/wallets/${bad}/balance`)).toMatchObject({
        status: 400,
        body: { code: 'invalid' },
      });
    }
  });
});

describe('ids', () => {
  const good = [
    'a/b',
    'a%2Fb',
    'a%252Fb',
    'Ä',
    'A\u0308',
    'ann@example.org',
    '👩‍👩‍👧',
    ' ',
    'a b',
    'a+b',
    '...',
    '?x=1#y',
    '%',
    ';',
    '\\',
    'é'.repeat(200),
    '𝒳'.repeat(200),
    'jobs',
    '{job}',
    ':job',
    '*',
  ];

  test('every id is its own wallet and its own job', async () => {
    for (const [index, id] of good.entries()) {
      await api.call('wallets.open', { wallet: id, customer: id });
      await api.call('wallets.grant', { wallet: id, key: id, amount: index + 1 });
      const { job } = await api.call('jobs.submit', { wallet: id, job: id, queue: null, price: index });
      expect(job).toMatchObject({ wallet: id, id });
    }
    for (const [index, id] of good.entries()) {
      expect(await api.call('wallets.balance', { wallet: id })).toMatchObject({ wallet: id, customer: id, booked: 1 });
      expect((await api.call('jobs.get', { wallet: id, job: id })).job).toMatchObject({ id, price: index });
      const [entry] = (await api.call('wallets.entries', { wallet: id })).entries;
      expect(entry).toMatchObject({ key: id, amount: index + 1 });
      await api.refused('jobs.get', 'no_job', { wallet: id, job: `${id.slice(0, 150)}!` });
    }
  });

  test.each(['.', '..', '', 'x'.repeat(201), 'a\nb', '\u0000', '\u202e', '\u2028'])(
    '%j is refused with the rule',
    async (id) => {
      const before = await state();
      for (const [name, input] of [
        ['wallets.open', { wallet: id, customer: 'c' }],
        ['jobs.submit', { wallet, job: id, queue: null, price: 0 }],
        ['wallets.open', { wallet: newId('w'), customer: id }],
      ] as const) {
        // In the path as it is: fetch would resolve dot segments before anybody saw them.
        const at = `/v1/wallets/${encodeURIComponent(input.wallet)}${'job' in input ? `/jobs/${encodeURIComponent(id)}` : ''}`;
        const { wallet: _, job: __, ...body } = input as Input;
        const answer = await api.raw('PUT', at, {}, JSON.stringify(body));
        expect(answer, `${name} ${at}`).toMatchObject({ status: 400, body: { code: 'invalid' } });
        expect(answer.body.field).toMatch(/^(wallet|job|customer)$/);
      }
      expect(await state()).toEqual(before);
    },
  );

  test('a lone surrogate is refused', async () => {
    const answer = await api.send('PUT', `/v1/wallets/${newId('w')}`, '{"customer":"\\ud800"}');
    expect(answer).toMatchObject({ status: 400, body: { field: 'customer' } });
  });
});

test('what is missing is told together with what is there and is no field', async () => {
  const answer = await api.send('PUT', `/v1/wallets/${wallet}/jobs/x`, '{"queue":"q","prise":40}');
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid', field: 'price' } });
  expect(answer.body.detail).toContain('prise');
});
