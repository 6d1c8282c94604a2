// Grants that expire: in the order of their use, not a moment longer, and never what a job at risk may still take.
import { expect } from 'vitest';
import { answer, balance, ledger, named, refusal } from './support/look.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();
const HOUR = 3_600_000;

/** A wallet with a grant that expires in an hour, and one that stays; the clock stands. */
async function twoGrants(s: Stage, expiring: number, staying: number): Promise<{ wallet: string; expiresAt: Date }> {
  const expiresAt = new Date((await s.stopClock()) + HOUR);
  const wallet = await s.wallet();
  if (staying > 0) await s.recoup.wallets.grant({ wallet, key: 'stays', amount: staying });
  await s.recoup.wallets.grant({ wallet, key: 'expires', amount: expiring, expiresAt });
  return { wallet, expiresAt };
}
const left = async ({ recoup }: Stage, wallet: string) =>
  Object.fromEntries(
    (await recoup.wallets.remainders({ wallet })).remainders.map(({ key, remaining }) => [key, remaining]),
  );

onEvery('what expires first is used first, and what is left of it cannot be spent when its time is past', async (s) => {
  const { wallet, expiresAt } = await twoGrants(s, 100, 50);
  await s.queued(30, { wallet });
  expect(await left(s, wallet)).toEqual({ expires: 70, stays: 50 });
  expect(await s.recoup.wallets.balance(wallet)).toMatchObject({
    booked: 120,
    spendable: 120,
    expiring: [{ amount: 70, at: expiresAt }],
  });
  await s.db.advance(HOUR - 1);
  expect(await s.recoup.wallets.balance(wallet)).toMatchObject({ spendable: 120 });
  await s.db.advance(1);
  expect(await s.recoup.wallets.balance(wallet)).toMatchObject({ booked: 120, spendable: 50, expiring: [] });
  // No sweep has run.
  const refused = await refusal(s.recoup.jobs.submit({ wallet, job: 'dear', queue: 'q', price: 51 }));
  expect(refused).toMatchObject({ code: 'insufficient_credits', details: { balance: 50, price: 51 } });
  expect(await ledger(s, wallet)).toEqual(['grant 50', 'grant 100', 'charge -30', 'expire -70']);
  expect(await answer(s.recoup.jobs.submit({ wallet, job: 'fits', queue: 'q', price: 50 }))).toBe('charged');
  expect(await s.recoup.sweep()).toMatchObject({ expired: 0 });
});

onEvery('a sweep books what is due once, of however many wallets, and a second one nothing', async (s) => {
  const wallets = await Promise.all(Array.from({ length: 30 }, async () => (await twoGrants(s, 9, 1)).wallet));
  await s.db.advance(HOUR);
  const replicas = await Promise.all([1, 2, 3].map(() => s.replica()));
  const swept = await Promise.all(replicas.map((replica) => replica.sweep()));
  expect(swept.reduce((sum, { expired }) => sum + expired, 0)).toBe(30);
  for (const wallet of wallets) expect(await ledger(s, wallet)).toEqual(['grant 1', 'grant 9', 'expire -9']);
  expect(await s.recoup.sweep()).toMatchObject({ expired: 0 });
  const due = `select count(*)::int as n from recoup.wallets where next_expiry_at < 'infinity'`;
  expect(await s.db.query(due)).toEqual([{ n: 0 }]);
});

onEvery('of 50 that come when it is due nobody spends it, and it expires once', async (s) => {
  const { wallet } = await twoGrants(s, 100, 20);
  await s.db.advance(HOUR);
  const replicas = await Promise.all([1, 2, 3, 4, 5].map(() => s.replica()));
  const calls = Array.from({ length: 50 }, (_, n) => {
    const submit = { wallet, job: `job-${n}`, queue: 'q', price: 3 };
    return answer(
      n % 7 === 0 ? replicas[n % 5]!.sweep().then(() => ({ outcome: 'swept' })) : replicas[n % 5]!.jobs.submit(submit),
    );
  });
  const answers = await Promise.all(calls);
  expect(answers.filter((one) => one === 'charged')).toHaveLength(6);
  expect(answers.filter((one) => !['charged', 'insufficient_credits', 'swept'].includes(one))).toEqual([]);
  expect((await ledger(s, wallet)).filter((line) => line.startsWith('expire'))).toEqual(['expire -100']);
  expect(await balance(s, wallet)).toBe(2);
});

onEvery('a batch that meets it is answered as if its inputs ran one by one', async (s) => {
  const { wallet } = await twoGrants(s, 100, 10);
  await s.db.advance(HOUR);
  const prices = [11, 4, 7, 6, 1];
  const answers = await s.recoup.jobs.submitMany(
    prices.map((price, n) => ({ wallet, job: `of-many-${n}`, queue: 'q', price })),
  );
  expect(answers.map(named)).toEqual([
    'insufficient_credits',
    'charged',
    'insufficient_credits',
    'charged',
    'insufficient_credits',
  ]);
});

onEvery(
  'what a time-out gave back is kept while the job may succeed: it costs once, and the rest expires',
  async (s) => {
    const { wallet } = await twoGrants(s, 100, 0);
    const job = await s.running(40, { wallet });
    await s.recoup.jobs.fail({ ...key(job), attempt: 1, retryable: false });
    await s.db.advance(HOUR);
    await s.recoup.sweep();
    expect(await s.recoup.wallets.balance(wallet)).toMatchObject({ booked: 40, spendable: 40, atRisk: 40 });
    expect(await s.recoup.jobs.succeed({ ...key(job), attempt: 1 })).toMatchObject({ outcome: 'reclaimed' });
    await s.db.advance(HOUR);
    await s.recoup.sweep();
    expect(await ledger(s, wallet)).toEqual(['grant 100', 'charge -40', 'refund 40', 'expire -60', 'reclaim -40']);
  },
);

onEvery('once it is decided that the job will not succeed, the rest expires too', async (s) => {
  const { wallet } = await twoGrants(s, 100, 5);
  const job = await s.running(40, { wallet });
  await s.recoup.jobs.fail({ ...key(job), attempt: 1, retryable: false });
  await s.db.advance(HOUR);
  await s.recoup.sweep();
  await s.recoup.jobs.cancel(key(job));
  expect(await answer(s.recoup.jobs.submit({ wallet, job: 'more', queue: 'q', price: 6 }))).toBe(
    'insufficient_credits',
  );
  expect(await ledger(s, wallet)).toEqual([
    'grant 5',
    'grant 100',
    'charge -40',
    'refund 40',
    'expire -60',
    'expire -40',
  ]);
});

onEvery('credit that comes back to a grant whose time is past cannot be spent', async (s) => {
  const { wallet } = await twoGrants(s, 100, 5);
  const job = await s.external(40, { wallet });
  await s.db.advance(HOUR);
  await s.recoup.sweep();
  expect(await balance(s, wallet)).toBe(5);
  await s.recoup.jobs.cancel(key(job));
  expect(await s.recoup.wallets.balance(wallet)).toMatchObject({ booked: 45, spendable: 5 });
  expect(await answer(s.recoup.jobs.submit({ wallet, job: 'more', queue: 'q', price: 6 }))).toBe(
    'insufficient_credits',
  );
  expect(await ledger(s, wallet)).toEqual([
    'grant 5',
    'grant 100',
    'charge -40',
    'expire -60',
    'refund 40',
    'expire -40',
  ]);
});

onEvery('a debt is paid before anything can expire', async (s) => {
  const wallet = await s.wallet();
  await s.recoup.wallets.adjust({ wallet, key: 'debt', amount: -30, actor: 'support' });
  const expiresAt = new Date((await s.stopClock()) + HOUR);
  await s.recoup.wallets.grant({ wallet, key: 'expires', amount: 100, expiresAt });
  await s.db.advance(HOUR);
  await s.recoup.sweep();
  expect(await ledger(s, wallet)).toEqual(['adjust -30', 'grant 100', 'expire -70']);
});

onEvery(
  'a grant whose time is past already expires at once; one that repeats is the same with its terms only',
  async (s) => {
    const now = await s.stopClock();
    const wallet = await s.wallet();
    const grant = { wallet, key: 'late', amount: 10, expiresAt: new Date(now - 1), priority: 2 };
    expect(await answer(s.recoup.wallets.grant(grant))).toBe('granted');
    expect(await answer(s.recoup.jobs.submit({ wallet, job: newId('job'), queue: 'q', price: 1 }))).toBe(
      'insufficient_credits',
    );
    expect(await answer(s.recoup.wallets.grant(grant))).toBe('duplicate');
    for (const other of [
      { expiresAt: new Date(now) },
      { priority: 3 },
      { expiresAt: undefined },
      { priority: undefined },
    ]) {
      const refused = await refusal(s.recoup.wallets.grant({ ...grant, ...other } as typeof grant));
      expect(refused).toMatchObject({ code: 'conflict', details: { booked: { priority: 2 } } });
    }
    expect(await ledger(s, wallet)).toEqual(['grant 10', 'expire -10']);
  },
);

onEvery('in a transaction of the caller it expires with it, or not at all', async (s) => {
  const { wallet } = await twoGrants(s, 10, 1);
  await s.db.advance(HOUR);
  const undone = s.recoup.transaction(async (inside) => {
    expect(await answer(inside.jobs.submit({ wallet, job: 'a', queue: 'q', price: 2 }))).toBe('insufficient_credits');
    expect((await inside.wallets.balance(wallet)).booked).toBe(1);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await balance(s, wallet)).toBe(11);
  await s.recoup.transaction((inside) => inside.jobs.submit({ wallet, job: 'b', queue: 'q', price: 1 }));
  expect(await ledger(s, wallet)).toEqual(['grant 1', 'grant 10', 'expire -10', 'charge -1']);
});

onFirst('terms are checked, and nothing is there afterwards', async (s) => {
  const wallet = await s.wallet();
  const grant = { wallet, key: 'k', amount: 1 };
  for (const wrong of [
    { priority: 10 },
    { priority: -1 },
    { priority: 0.5 },
    { expiresAt: new Date(Number.NaN) },
    { expiresAt: '2030-01-01' },
  ]) {
    const refused = await refusal(s.recoup.wallets.grant({ ...grant, ...wrong } as never));
    expect(refused.code).toBe('invalid');
    expect(refused.message).toMatch(new RegExp(`^${Object.keys(wrong)[0]}`));
  }
  expect(await refusal(s.recoup.wallets.adjust({ ...grant, priority: 1 } as never))).toMatchObject({ code: 'invalid' });
  expect(await ledger(s, wallet)).toEqual([]);
});

const key = ({ wallet, job }: { wallet: string; job: string }) => ({ wallet, job });

onEvery('the books are right', booksAreRight);
