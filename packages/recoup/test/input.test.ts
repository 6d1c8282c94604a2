// Input: what cannot be right is refused before anything is sent, with the field named, and nothing at all has changed.
import { expect } from 'vitest';
import { type InTransaction, InvalidInput } from '../src/index.ts';
import { answer, digest, ledger, refusal } from './support/look.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();
const MAX = Number.MAX_SAFE_INTEGER;

/** Refused as invalid in that field, by the handle and inside a transaction, with a message for people; nothing changed. */
async function refuses(s: Stage, field: string, call: (recoup: InTransaction) => Promise<unknown>, what: unknown = '') {
  const before = await digest(s.db);
  for (const run of [() => call(s.recoup), () => s.recoup.transaction(call)]) {
    const refused = await refusal(run);
    expect([what, refused.code, refused.details.field]).toEqual([what, 'invalid', field]);
    expect(refused).toBeInstanceOf(InvalidInput);
    expect(refused.message.startsWith(`${field}: `)).toBe(true);
    expect([refused.status, refused.retryable]).toEqual([400, false]);
  }
  expect([what, await digest(s.db)]).toEqual([what, before]);
}

const NOT_AMOUNTS = [
  -1,
  0.5,
  Number.NaN,
  Infinity,
  -Infinity,
  '40',
  1e308,
  2 ** 53,
  40n,
  true,
  [40],
  { valueOf: () => 40 },
  '',
  'x',
];
type Amounts = Record<
  string,
  [field: string, call: (r: InTransaction, wallet: string, amount: never) => Promise<unknown>]
>;

/** Every path that takes an amount. */
const AMOUNTS: Amounts = {
  open: [
    'overdraftLimit',
    ({ wallets }, _, overdraftLimit) => wallets.open({ wallet: 'new', customer: 'c', overdraftLimit }),
  ],
  change: ['overdraftLimit', ({ wallets }, wallet, overdraftLimit) => wallets.change(wallet, { overdraftLimit })],
  grant: ['amount', ({ wallets }, wallet, amount) => wallets.grant({ wallet, key: 'k', amount })],
  'grant of many': [
    'grantMany[0].amount',
    ({ wallets }, wallet, amount) => wallets.grantMany([{ wallet, key: 'k', amount }]),
  ],
  submit: ['price', ({ jobs }, wallet, price) => jobs.submit({ wallet, job: 'j', queue: 'q', price })],
  'submit of many': [
    'submitMany[1].price',
    ({ jobs }, wallet, price) =>
      jobs.submitMany([
        { wallet, job: 'i', queue: null, price: 1 },
        { wallet, job: 'j', queue: null, price },
      ]),
  ],
  succeed: ['finalPrice', ({ jobs }, wallet, finalPrice) => jobs.succeed({ wallet, job: 'there', finalPrice })],
  'succeed of many': [
    'succeedMany[1].finalPrice',
    ({ jobs }, wallet, finalPrice) =>
      jobs.succeedMany([
        { wallet, job: 'there' },
        { wallet, job: 'there', finalPrice },
      ]),
  ],
  settle: ['finalPrice', ({ jobs }, wallet, finalPrice) => jobs.settle({ wallet, job: 'there', finalPrice })],
  cancel: ['keep', ({ jobs }, wallet, keep) => jobs.cancel({ wallet, job: 'there', keep })],
};

onEvery('amounts that are none are refused on every path that takes one, and the field is named', async (s) => {
  const wallet = await s.wallet(100);
  await s.recoup.jobs.submit({ wallet, job: 'there', queue: null, price: 1 });
  for (const [name, [field, call]] of Object.entries(AMOUNTS)) {
    for (const bad of NOT_AMOUNTS) await refuses(s, field, (r) => call(r, wallet, bad as never), [name, bad]);
  }
  for (const [name, [field, call]] of Object.entries(AMOUNTS).filter(([name]) => /^(grant|submit|settle)/.test(name))) {
    for (const none of [null, undefined]) await refuses(s, field, (r) => call(r, wallet, none as never), [name, none]);
  }
  const adjust =
    (amount: unknown) =>
    ({ wallets }: InTransaction) =>
      wallets.adjust({ wallet, key: 'k', amount: amount as number });
  for (const bad of [0, -0, -0.5, 2 ** 53, -(2 ** 53), ...NOT_AMOUNTS.filter((one) => one !== -1), null, undefined]) {
    await refuses(s, 'amount', adjust(bad), bad);
  }
  for (const zero of [0, -0])
    await refuses(s, 'amount', ({ wallets }) => wallets.grant({ wallet, key: 'k', amount: zero }), zero);
});

onEvery('the largest amounts are taken to the last unit', async (s) => {
  const wallet = await s.wallet(0, MAX);
  await s.recoup.wallets.grant({ wallet, key: 'all', amount: MAX });
  expect(await s.recoup.wallets.balance(wallet)).toMatchObject({ booked: MAX, overdraftLimit: MAX });
  expect(await s.recoup.jobs.submit({ wallet, job: 'all', queue: null, price: MAX })).toMatchObject({ balance: 0 });
  expect(await s.recoup.jobs.submit({ wallet, job: 'and more', queue: null, price: MAX })).toMatchObject({
    balance: -MAX,
  });
  expect(await answer(s.recoup.jobs.submit({ wallet, job: 'too much', queue: null, price: 1 }))).toBe(
    'insufficient_credits',
  );
  expect(await answer(s.recoup.jobs.succeed({ wallet, job: 'all', finalPrice: 0 }))).toBe('succeeded');
  await s.recoup.jobs.submit({ wallet, job: 'minus zero', queue: null, price: -0 });
  expect(await ledger(s, wallet)).toEqual([
    `grant ${MAX}`,
    `charge -${MAX}`,
    `charge -${MAX}`,
    `settle ${MAX}`,
    'charge 0',
  ]);
});

const BAD_IDS = [
  '',
  '.',
  '..',
  'x'.repeat(201),
  '😀'.repeat(201),
  'a\nb',
  'a\tb',
  '\u0000',
  'a\u0000',
  '\u007f',
  '\u0085',
  '\u2028',
  '\u2029',
  '\u200b',
  '\u202e',
  '\ufeff',
  '\ud800',
  'a\udc00',
  '\ue000',
  5,
  5n,
  true,
  {},
  ['a'],
  Symbol('a'),
  () => 'a',
];
type Ids = Record<string, [field: string, call: (r: InTransaction, wallet: string, id: never) => Promise<unknown>]>;

/** Every path that takes an id. */
const IDS: Ids = {
  'open wallet': ['wallet', ({ wallets }, _, wallet) => wallets.open({ wallet, customer: 'c' })],
  'open customer': ['customer', ({ wallets }, _, customer) => wallets.open({ wallet: 'new', customer })],
  'open unit': ['unit', ({ wallets }, _, unit) => wallets.open({ wallet: 'new', customer: 'c', unit })],
  change: ['wallet', ({ wallets }, _, wallet) => wallets.change(wallet, { overdraftLimit: 1 })],
  'grant wallet': ['wallet', ({ wallets }, _, wallet) => wallets.grant({ wallet, key: 'k', amount: 1 })],
  'grant key': ['key', ({ wallets }, wallet, key) => wallets.grant({ wallet, key, amount: 1 })],
  'grant actor': ['actor', ({ wallets }, wallet, actor) => wallets.grant({ wallet, key: 'k', amount: 1, actor })],
  'adjust job': ['job', ({ wallets }, wallet, job) => wallets.adjust({ wallet, key: 'k', amount: 1, job })],
  balance: ['wallet', ({ wallets }, _, wallet) => wallets.balance(wallet)],
  'balance at': ['wallet', ({ wallets }, _, wallet) => wallets.balanceAt(wallet, new Date())],
  'submit wallet': ['wallet', ({ jobs }, _, wallet) => jobs.submit({ wallet, job: 'j', queue: 'q', price: 1 })],
  'submit job': ['job', ({ jobs }, wallet, job) => jobs.submit({ wallet, job, queue: 'q', price: 1 })],
  'submit queue': ['queue', ({ jobs }, wallet, queue) => jobs.submit({ wallet, job: 'j', queue, price: 1 })],
  'submit reference': [
    'upstreamRef',
    ({ jobs }, wallet, upstreamRef) => jobs.submit({ wallet, job: 'j', queue: null, price: 1, upstreamRef }),
  ],
  'lease queue': ['queue', ({ jobs }, _, queue) => jobs.lease({ queue })],
  'lease worker': ['worker', ({ jobs }, _, worker) => jobs.lease({ queue: 'q', worker })],
  'lease request': ['requestId', ({ jobs }, _, requestId) => jobs.lease({ queue: 'q', requestId })],
  extend: ['job', ({ jobs }, wallet, job) => jobs.extend({ wallet, job, attempt: 1 })],
  'hand over': [
    'upstreamRef',
    ({ jobs }, wallet, upstreamRef) => jobs.handOver({ wallet, job: 'there', attempt: 1, upstreamRef }),
  ],
  fail: ['job', ({ jobs }, wallet, job) => jobs.fail({ wallet, job })],
  succeed: ['wallet', ({ jobs }, _, wallet) => jobs.succeed({ wallet, job: 'there' })],
  settle: ['job', ({ jobs }, wallet, job) => jobs.settle({ wallet, job, finalPrice: 1 })],
  cancel: ['job', ({ jobs }, wallet, job) => jobs.cancel({ wallet, job })],
  release: ['job', ({ jobs }, wallet, job) => jobs.release({ wallet, job, attempt: 1 })],
  redrive: ['job', ({ jobs }, wallet, job) => jobs.deadLetters.redrive({ wallet, job })],
  discard: ['job', ({ jobs }, wallet, job) => jobs.deadLetters.discard({ wallet, job })],
  get: ['job', ({ jobs }, wallet, job) => jobs.get({ wallet, job })],
  attempts: ['wallet', ({ jobs }, _, wallet) => jobs.attempts({ wallet, job: 'j' })],
  'by reference': ['upstreamRef', ({ jobs }, _, ref) => jobs.byUpstreamRef(ref)],
  configure: ['queue', ({ queues }, _, queue) => queues.configure(queue, { paused: true })],
};

onFirst('ids that cannot be ids are refused on every path that takes one, and the field is named', async (s) => {
  const wallet = await s.wallet(100);
  await s.recoup.jobs.submit({ wallet, job: 'there', queue: null, price: 1 });
  for (const [name, [field, call]] of Object.entries(IDS)) {
    // One path sees every bad id, the others the kinds of them.
    const some = name === 'submit job' ? BAD_IDS : ['', '..', 'x'.repeat(201), 'a\u0000', '\ud800', 5];
    for (const bad of some) await refuses(s, field, (r) => call(r, wallet, bad as never), [name, String(bad)]);
  }
  await refuses(s, 'queue', ({ jobs }) => jobs.submit({ wallet, job: 'j', queue: '*', price: 1 }));
});

onEvery('ids with any printable characters are taken as they are, and none is confused with another', async (s) => {
  const ids = [
    'a/b',
    'a%2Fb',
    'a b',
    ' a',
    'a ',
    'A',
    'a',
    'Ä',
    'A\u0308',
    'ä',
    'ß',
    'ss',
    'İ',
    'i',
    '...',
    './.',
    'user@example.org',
    '👩‍👩‍👧',
    '👩👩👧',
    '-1',
    '1',
    '01',
    '1e0',
    'null',
    'undefined',
    '\'"`;--',
    '%',
    '_',
    '\\',
    '\\0',
    '$1',
    '{}',
    '[]',
    '*',
    'x'.repeat(200),
    '😀'.repeat(200),
    '日本',
    '\ufb01',
    'fi',
  ];
  const wallets = await Promise.all(
    ids.map(async (id) => {
      const wallet = `${s.server.name} ${id}`.slice(-200);
      const named = [...wallet].length > 200 ? id : wallet;
      await s.recoup.wallets.open({ wallet: named, customer: id });
      await s.recoup.wallets.grant({ wallet: named, key: id, amount: 10 });
      return named;
    }),
  );
  expect(new Set(wallets).size).toBe(ids.length);
  const home = await s.wallet(1000);
  for (const [i, job] of ids.entries()) {
    expect(await answer(s.recoup.jobs.submit({ wallet: home, job, queue: null, price: i, upstreamRef: job }))).toBe(
      'charged',
    );
    expect(await s.recoup.wallets.balance(wallets[i]!)).toMatchObject({
      wallet: wallets[i],
      customer: job,
      booked: 10,
    });
  }
  for (const [i, job] of ids.entries()) {
    expect((await s.recoup.jobs.get({ wallet: home, job })).job).toMatchObject({ id: job, price: i });
    expect((await s.recoup.jobs.byUpstreamRef(job)).map((one) => one.job.id)).toEqual([job]);
  }
});

onEvery('the books are right', booksAreRight);
