// Input that people write: payloads, results, labels, texts, instants, options; stored as it is or refused by name.
import { expect } from 'vitest';
import type { InTransaction, Submit } from '../src/index.ts';
import { answer } from './support/look.ts';
import { refuses } from './support/refuses.ts';
import { booksAreRight, newId, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();

const cyclic: Record<string, unknown> = { a: {} };
cyclic.a = { back: cyclic };
const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);

const NOT_JSON: Record<string, unknown> = {
  'U+0000': 'a\u0000b',
  'U+0000 in a key': { '\u0000': 1 },
  'a lone surrogate': ['\ud800'],
  'a lone surrogate in a key': { '\udc00': 1 },
  'a cycle': cyclic,
  'a BigInt': { n: 1n },
  NaN: [Number.NaN],
  Infinity: { a: Number.POSITIVE_INFINITY },
  'an integer that changes': [2 ** 53],
  'a huge number': 1e308,
  'too deep': deep(200),
  'deeper than the stack': Array.from({ length: 50_000 }).reduce((inner) => [inner], 1),
  'too long': 'x'.repeat(1_048_577),
  'too long in bytes': '😀'.repeat(300_000),
  'a function': () => 1,
  'a symbol': [Symbol('a')],
  'toJSON to U+0000': { a: { toJSON: () => '\u0000' } },
  'toJSON to a lone surrogate': { toJSON: () => '\ud800' },
  'toJSON to a changing integer': { toJSON: () => 2 ** 60 },
  'toJSON that throws': {
    toJSON: () => {
      throw new Error('no');
    },
  },
  'a Map': new Map([[1, 2]]),
  'a Set': { a: new Set([1]) },
};

onEvery('payloads and results that are not JSON, or would change when stored, are refused by name', async (s) => {
  const wallet = await s.wallet(100);
  await s.recoup.jobs.submit({ wallet, job: 'there', queue: null, price: 1 });
  for (const [what, bad] of Object.entries(NOT_JSON)) {
    await refuses(
      s,
      /^payload/,
      ({ jobs }) => jobs.submit({ wallet, job: 'new', queue: 'q', price: 1, payload: bad }),
      what,
    );
    await refuses(s, /^result/, ({ jobs }) => jobs.succeed({ wallet, job: 'there', result: bad }), what);
  }
  expect(await answer(s.recoup.jobs.succeed({ wallet, job: 'there', result: 'fine' }))).toBe('succeeded');
});

onFirst('labels are a few short strings', async (s) => {
  const wallet = await s.wallet();
  const submit = (labels: unknown): Submit => ({
    wallet,
    job: 'new',
    queue: 'q',
    price: 0,
    labels: labels as Record<string, string>,
  });
  const many = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`label ${i}`, 'x']));
  const bad = [
    5,
    'a',
    ['a'],
    { a: 1 },
    { a: null },
    { '': 'x' },
    { a: 'x'.repeat(201) },
    { a: '\u0000' },
    { a: '\ud800' },
    { 'a\n': 'x' },
    many,
    new Map(),
    new Date(0),
  ];
  for (const labels of bad) await refuses(s, /^labels/, ({ jobs }) => jobs.submit(submit(labels)), labels);
  const labels = { team: 'a', 'käse \\ "': '', __proto: 'x' };
  expect((await s.recoup.jobs.submit(submit(labels))).job.labels).toEqual(labels);
  expect((await s.recoup.jobs.get({ wallet, job: 'new' })).job.labels).toEqual(labels);
});

onFirst(
  'reasons of reports are kept or cut, never a cause to lose the report; notes and codes are refused',
  async (s) => {
    for (const reason of ['x'.repeat(5000), 'a\u0000b', '\ud800', '😀'.repeat(2000), '']) {
      const job = await s.running(1);
      expect(await answer(s.recoup.jobs.fail({ wallet: job.wallet, job: job.job, attempt: 1, reason }))).toBe(
        'retrying',
      );
      const kept = (await s.recoup.jobs.get({ wallet: job.wallet, job: job.job })).job.reason!;
      expect([kept.length <= 2000, kept.isWellFormed(), kept.includes('\u0000')]).toEqual([true, true, false]);
    }
    const wallet = await s.wallet();
    const grant =
      (more: object) =>
      ({ wallets }: InTransaction) =>
        wallets.grant({ wallet, key: 'k', amount: 1, ...more });
    for (const note of ['\u0000', '\ud800', 'x'.repeat(10_001), 5]) await refuses(s, /^note$/, grant({ note }), note);
    for (const reason of ['\u0000', '\ud800', 'x'.repeat(201), 5])
      await refuses(s, /^reason$/, grant({ reason }), reason);
  },
);

onFirst('instants, durations, numbers and flags out of their range or type are refused by name', async (s) => {
  const { wallet, job } = await s.running(1);
  const at = { wallet, job, attempt: 1 };
  const submit =
    (more: object) =>
    ({ jobs }: InTransaction) =>
      jobs.submit({ wallet, job: 'new', queue: 'q', price: 0, ...more });
  const external =
    (more: object) =>
    ({ jobs }: InTransaction) =>
      jobs.submit({ wallet, job: 'new', queue: null, price: 0, ...more });
  const fail =
    (more: object) =>
    ({ jobs }: InTransaction) =>
      jobs.fail({ ...at, ...more });
  const numbers = [-1, 0.5, Number.NaN, 1e20, '5', 5n];
  const cases: [string, (value: never) => (r: InTransaction) => Promise<unknown>, readonly unknown[]][] = [
    [
      'notBefore',
      (notBefore) => submit({ notBefore }),
      [new Date(Number.NaN), '2030-01-01', 5, new Date(-1), new Date(8.64e15)],
    ],
    ['delayMs', (delayMs) => submit({ delayMs }), numbers],
    ['priority', (priority) => submit({ priority }), [...numbers, 10]],
    ['maxFailures', (maxFailures) => submit({ maxFailures }), [...numbers, 0, 1_000_001]],
    ['deadlineMs', (deadlineMs) => external({ deadlineMs }), [...numbers, 0]],
    ['attempt', (attempt) => fail({ attempt }), [...numbers, 0, 2 ** 31]],
    ['verdict', (verdict) => fail({ verdict }), ['sure', 5, '']],
    ['retryable', (retryable) => fail({ retryable }), ['false', 0]],
    ['retryAfterMs', (retryAfterMs) => fail({ retryAfterMs }), numbers],
    [
      'count',
      (count) =>
        ({ jobs }) =>
          jobs.lease({ queue: 'q', count }),
      [...numbers, 0, 501],
    ],
    [
      'leaseMs',
      (leaseMs) =>
        ({ jobs }) =>
          jobs.extend({ ...at, leaseMs }),
      [...numbers, 99, 86_400_001],
    ],
    [
      'deadlineMs',
      (deadlineMs) =>
        ({ jobs }) =>
          jobs.handOver({ ...at, deadlineMs }),
      [...numbers, 0],
    ],
    [
      'delayMs',
      (delayMs) =>
        ({ jobs }) =>
          jobs.release({ ...at, delayMs }),
      numbers,
    ],
    [
      'olderThanMs',
      (olderThanMs) =>
        ({ jobs }) =>
          jobs.prune({ olderThanMs }),
      [...numbers, null, undefined],
    ],
    [
      'at',
      (instant) =>
        ({ wallets }) =>
          wallets.balanceAt(wallet, instant),
      [new Date(Number.NaN), '2030-01-01', null],
    ],
    [
      'status',
      (status) =>
        ({ wallets }) =>
          wallets.change(wallet, { status }),
      ['open', '', 5],
    ],
  ];
  for (const [field, make, bad] of cases) {
    for (const value of bad) await refuses(s, new RegExp(`^${field}$`), make(value as never), [field, value]);
  }
  await refuses(s, /^delayMs$/, submit({ delayMs: 1, notBefore: new Date() }));
  for (const [field, value] of [
    ['deadlineMs', 5],
    ['upstreamRef', 'x'],
  ] as const)
    await refuses(s, new RegExp(`^${field}$`), submit({ [field]: value }));
  for (const [field, value] of [
    ['priority', 5],
    ['delayMs', 5],
    ['maxFailures', 5],
    ['notBefore', new Date()],
  ] as const) {
    await refuses(s, new RegExp(`^${field}$`), external({ [field]: value }));
  }
});

onEvery('what is JSON comes back as it went in, and its repeat is a duplicate', async (s) => {
  const wallet = await s.wallet();
  const values: unknown[] = [
    null,
    true,
    false,
    0,
    -0,
    1.5,
    -1e-7,
    5e-324,
    2 ** 53 - 1,
    '',
    'null',
    '{"a":1}',
    '\u0001\u001f"\\/',
    '\u2028',
    '👩‍👩‍👧',
    '\ufffd',
    [],
    {},
    [null, [], {}],
    { '': 1, __proto: 2, constructor: 3, 'a b': { c: [1, { d: null }] } },
    deep(90),
    'x'.repeat(1_000_000),
    { a: undefined, b: 1 },
    [undefined],
    { at: new Date(0) },
    JSON.parse('{"__proto__": 1}'),
  ];
  for (const [i, value] of values.entries()) {
    const submit = { wallet, job: newId('job'), queue: null, price: 0, payload: value };
    await s.recoup.jobs.submit(submit);
    expect([i, await answer(s.recoup.jobs.submit(submit))]).toEqual([i, 'duplicate']);
    await s.recoup.jobs.succeed({ wallet, job: submit.job, result: value });
    const expected = JSON.parse(JSON.stringify(value === undefined ? null : value)) as unknown;
    const { payload, result } = await s.recoup.jobs.get({ wallet, job: submit.job });
    expect([payload, result]).toEqual([expected, expected]);
  }
});

onEvery('the books are right', booksAreRight);
