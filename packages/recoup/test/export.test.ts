// For other books: unused credit by grant, the ledger page by page, balances of many wallets, batches of openings and adjusts.
import fc from 'fast-check';
import { expect } from 'vitest';
import { type LedgerEntry, type LedgerFilter, Refusal } from '../src/index.ts';
import { refusal } from './support/look.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';

const { onEvery, onFirst } = staging();

/** Something that may happen to a wallet. */
type Step = { kind: 'grant' | 'adjust' | 'job'; amount: number; end: number };
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('grant', 'adjust', 'job', 'job'),
  amount: fc.integer({ min: 1, max: 60 }),
  end: fc.nat({ max: 6 }),
});

async function play({ recoup }: Stage, wallet: string, steps: readonly Step[]): Promise<void> {
  for (const [index, { kind, amount, end }] of steps.entries()) {
    const key = `k${index}`;
    if (kind === 'grant') await recoup.wallets.grant({ wallet, key, amount });
    else if (kind === 'adjust') await recoup.wallets.adjust({ wallet, key, amount: end % 2 === 0 ? amount : -amount });
    else await runJob(recoup, wallet, key, amount, end);
  }
}

async function runJob(recoup: Stage['recoup'], wallet: string, job: string, price: number, end: number) {
  const submitted = await recoup.jobs.submit({ wallet, job, queue: null, price }).catch((error: unknown) => error);
  if (submitted instanceof Refusal) return;
  if (end === 1) await recoup.jobs.cancel({ wallet, job, keep: price >> 1 });
  if (end === 2 || end === 3 || end === 4) await recoup.jobs.fail({ wallet, job, attempt: 1 });
  if (end >= 3) await recoup.jobs.succeed({ wallet, job, ...(end % 2 === 0 ? { finalPrice: price + end } : {}) });
}

/** The rule as a person would do it: credit stands in a row, whatever is used is taken from its front. */
async function byHand({ recoup }: Stage, wallet: string): Promise<[seq: number, remaining: number][]> {
  const row: [number, number][] = [];
  let used = 0;
  for await (const { type, seq, amount } of recoup.wallets.replay(wallet)) {
    if (type === 'grant' || (type === 'adjust' && amount > 0)) row.push([seq, amount]);
    else used -= amount;
  }
  for (const credit of row) {
    const taken = Math.min(credit[1], used);
    credit[1] -= taken;
    used -= taken;
  }
  return row.filter(([, remaining]) => remaining > 0);
}

onFirst(
  'remainders sum to max(balance, 0), the oldest credit is used first, a debt is paid before anything',
  async (s) => {
    const debts = { seen: 0, left: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 14 }),
        fc.nat({ max: 80 }),
        async (steps, overdraft) => {
          const wallet = await s.wallet(0, overdraft);
          await play(s, wallet, steps);
          const { remainders, cursor } = await s.recoup.wallets.remainders({ wallet });
          const { booked } = await s.recoup.wallets.balance(wallet);
          debts[booked < 0 ? 'seen' : 'left'] += 1;
          expect(cursor).toBeNull();
          expect(remainders.reduce((sum, { remaining }) => sum + remaining, 0)).toBe(Math.max(booked, 0));
          expect(remainders.map(({ seq, remaining }) => [seq, remaining])).toEqual(await byHand(s, wallet));
        },
      ),
      { numRuns: 120, seed: 7 },
    );
    // Both kinds of wallets came up.
    expect(Math.min(debts.seen, debts.left)).toBeGreaterThan(5);
  },
);

onFirst('wallets are listed by id, of everybody or of one customer, and none twice', async (s) => {
  const customer = newId('customer');
  const wallets = ['a', 'b', 'c', 'd'].map((name) => `${customer}-${name}`);
  for (const wallet of [...wallets].reverse()) await s.recoup.wallets.open({ wallet, customer, unit: 'token' });
  await s.recoup.wallets.adjust({ wallet: wallets[0]!, key: 'k', amount: -5 });
  await s.recoup.wallets.change(wallets[1]!, { status: 'closed', overdraftLimit: 7 });
  const seen: unknown[] = [];
  let cursor: string | null = null;
  do {
    const page = await s.recoup.wallets.list({ customer, cursor, limit: 2 });
    seen.push(...page.wallets);
    cursor = page.cursor;
  } while (cursor !== null);
  const row = { customer, unit: 'token', status: 'active', booked: 0, overdraftLimit: 0 };
  expect(seen).toEqual([
    { ...row, wallet: wallets[0], booked: -5 },
    { ...row, wallet: wallets[1], status: 'closed', overdraftLimit: 7 },
    { ...row, wallet: wallets[2] },
    { ...row, wallet: wallets[3] },
  ]);
  const all = await s.recoup.wallets.list({ limit: 1000 });
  expect(all.wallets.filter((one) => one.customer === customer)).toEqual(seen);
  expect(await s.recoup.wallets.list({ customer: 'nobody' })).toEqual({ wallets: [], cursor: null });
});

onFirst('remainders go wallet by wallet, of everybody or of one customer, and no wallet twice', async (s) => {
  const customer = newId('customer');
  const wallets = ['a', 'b', 'c', 'd', 'e'].map((name) => `${customer}-${name}`);
  for (const wallet of wallets) await s.recoup.wallets.open({ wallet, customer });
  for (const wallet of wallets.slice(1)) await s.recoup.wallets.grant({ wallet, key: 'k', amount: 5 });
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await s.recoup.wallets.remainders({ customer, cursor, limit: 2 });
    seen.push(...page.remainders.map(({ wallet }) => wallet));
    cursor = page.cursor;
  } while (cursor !== null);
  expect(seen).toEqual(wallets.slice(1));
  const all = await s.recoup.wallets.remainders({ limit: 1000 });
  expect(all.remainders.filter((one) => one.customer === customer)).toHaveLength(4);
  expect((await s.recoup.wallets.remainders({ wallet: wallets[1]!, customer: 'another' })).remainders).toEqual([]);
});

async function exported(s: Stage, filter: LedgerFilter, limit = 3): Promise<LedgerEntry[]> {
  const all: LedgerEntry[] = [];
  let cursor: string | null = null;
  for (;;) {
    const page = await s.recoup.feed.entries(filter, { cursor, limit });
    all.push(...page.entries);
    cursor = page.cursor;
    if (page.ended) return all;
  }
}

onEvery(
  'the ledger comes out once, whole, page by page; filters are those of wallet, customer and period',
  async (s) => {
    const customer = newId('customer');
    const wallets = [1, 2, 3].map((n) => `${customer}-${n}`);
    for (const wallet of wallets) {
      await s.recoup.wallets.open({ wallet, customer, unit: 'token' });
      for (let n = 0; n < 5; n++) await s.recoup.wallets.adjust({ wallet, key: `k${n}`, amount: n - 7 });
    }
    const keys = (entries: LedgerEntry[]) => entries.map(({ wallet, seq }) => `${wallet}:${seq}`);
    const expected = wallets.flatMap((wallet) => [1, 2, 3, 4, 5].map((seq) => `${wallet}:${seq}`));
    // Other tests may hold the order of all wallets back for a while.
    const mine = await until(async () => {
      const ours = (await exported(s, {})).filter((entry) => entry.customer === customer);
      return ours.length >= expected.length && ours;
    });
    expect(keys(mine).sort()).toEqual(expected);
    expect(keys(await exported(s, { customer }))).toEqual(expected);
    expect(keys(await exported(s, { wallet: wallets[1]! }, 5))).toEqual(expected.slice(5, 10));
    expect(await exported(s, { wallet: wallets[1]!, customer: 'another' })).toEqual([]);
    const [first] = await exported(s, { wallet: wallets[0]! });
    expect(first).toMatchObject({
      customer,
      unit: 'token',
      type: 'adjust',
      amount: -7,
      balance: -7,
      job: null,
      key: 'k0',
    });
    expect(first!.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const far = new Date('2999-01-01T00:00:00Z');
    expect(await exported(s, { customer, from: far })).toEqual([]);
    expect(await exported(s, { customer, to: far })).toHaveLength(15);
  },
);

onFirst('what commits late is not missed by a cursor that went on', async (s) => {
  const [early, late] = [await s.wallet(1), await s.wallet(1)];
  const client = await s.client();
  await client.query('begin');
  await s.recoup.using(client).wallets.grant({ wallet: late, key: 'late', amount: 7 });
  await s.recoup.wallets.grant({ wallet: early, key: 'early', amount: 3 });
  const seen: LedgerEntry[] = [];
  let cursor: string | null = null;
  const read = async () => {
    for (let ended = false; !ended; ) {
      const page = await s.recoup.feed.entries({}, { cursor, limit: 2 });
      seen.push(...page.entries);
      ({ cursor, ended } = page);
    }
  };
  await read();
  await client.query('commit');
  await until(async () => {
    await read();
    return (
      seen.some(({ wallet, key }) => wallet === late && key === 'late') &&
      seen.some(({ wallet, key }) => wallet === early && key === 'early')
    );
  });
  expect(seen.filter(({ wallet, key }) => wallet === late && key === 'late')).toHaveLength(1);
  expect(seen.filter(({ wallet, key }) => wallet === early && key === 'early')).toHaveLength(1);
});

onFirst('a cursor of other filters, and what is none, is refused', async (s) => {
  const wallet = await s.wallet(1);
  const { cursor } = await s.recoup.feed.entries({ wallet });
  for (const wrong of [cursor, 'x', '', 'bm9uc2Vuc2U', 5 as never]) {
    expect(await refusal(() => s.recoup.feed.entries({}, { cursor: wrong }))).toMatchObject({ code: 'invalid' });
  }
  expect(await refusal(() => s.recoup.feed.entries({ walet: 'x' } as never))).toMatchObject({ code: 'invalid' });
});

onFirst('openMany, adjustMany and balances answer item by item', async (s) => {
  const [a, b] = [newId('wallet'), newId('wallet')];
  const { wallets } = s.recoup;
  const open = [
    { wallet: a, customer: 'c' },
    { wallet: b, customer: 'c' },
    { wallet: a, customer: 'c' },
    { wallet: a, customer: 'd' },
  ];
  expect(await wallets.openMany(open)).toMatchObject([
    { outcome: 'opened' },
    { outcome: 'opened' },
    { outcome: 'duplicate' },
    { code: 'conflict', details: { there: { customer: 'c' } } },
  ]);
  const adjusts = [
    { wallet: a, key: 'k', amount: -5 },
    { wallet: 'nobody', key: 'k', amount: 1 },
    { wallet: a, key: 'k', amount: -5 },
  ];
  expect(await wallets.adjustMany(adjusts)).toMatchObject([
    { outcome: 'adjusted', balance: -5 },
    { code: 'no_wallet' },
    { outcome: 'duplicate', balance: -5 },
  ]);
  expect(await wallets.balances([a, 'nobody', b, a])).toMatchObject([
    { booked: -5 },
    { code: 'no_wallet' },
    { booked: 0 },
    { booked: -5 },
  ]);
  expect(await wallets.balances([])).toEqual([]);
});

onFirst('prune takes a state, and a dry run says how many there are in all', async (s) => {
  const jobs = [await s.external(1), await s.external(1), await s.external(1)];
  await s.recoup.jobs.succeed(jobs[0]!);
  await s.recoup.jobs.succeed(jobs[1]!);
  await s.recoup.jobs.cancel(jobs[2]!);
  await s.db.advance(1000);
  const { jobs: api } = s.recoup;
  const all = await api.prune({ olderThanMs: 0, dryRun: true });
  expect(await api.prune({ olderThanMs: 0, dryRun: true, state: 'canceled' })).toBe(
    all - (await api.prune({ olderThanMs: 0, dryRun: true, state: 'succeeded' })),
  );
  expect(await api.prune({ olderThanMs: 86_400_000, dryRun: true })).toBe(0);
  expect(await api.prune({ olderThanMs: 0, state: 'canceled', count: 10_000 })).toBeGreaterThan(0);
  expect(await refusal(() => api.get(jobs[2]!))).toMatchObject({ code: 'no_job' });
  expect((await api.get(jobs[0]!)).job.state).toBe('succeeded');
  expect(await refusal(() => api.prune({ olderThanMs: 0, state: 'dead' as never }))).toMatchObject({ code: 'invalid' });
});

onFirst('the books are right', booksAreRight);
