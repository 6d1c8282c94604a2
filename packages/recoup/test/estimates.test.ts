// Estimates: scored against what came, with the range that held, and beside each time that is said.
import { expect } from 'vitest';
import { times } from './support/look.ts';
import { MINUTE, ms, poolOf, SECOND, soft } from './support/pools.ts';
import { type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();

const blocked = (forMs: number) => ({ ...soft, source: 'retry_after', forMs }) as const;
const scoreOf = async (s: Stage, provider: string) =>
  (await s.recoup.upstreams.estimates()).filter((one) => one.provider === provider);

/** Blocked for a minute; then tried with success `offMs` after that was said to be over, and closed. */
async function backAfter(s: Stage, upstream: string, offMs: number) {
  await s.recoup.upstreams.report({ upstream, success: false, block: blocked(MINUTE) });
  await s.db.advance(MINUTE + offMs);
  for (let trial = 0; trial < 4; trial++) {
    await s.recoup.upstreams.report({ upstream, success: true });
    await s.db.advance(10);
  }
  await s.db.advance(10 * MINUTE);
}

onEvery('what was said is held, late or early by what came; a person’s end says nothing', async (s) => {
  const { pool, names } = await poolOf(s, 1);
  const [upstream] = names as [string];
  await backAfter(s, upstream, 0);
  // Asked long after: it was back when it was said, as far as anybody knows.
  await backAfter(s, upstream, 5 * MINUTE);
  await backAfter(s, upstream, -20 * SECOND);
  // A trial fails, and holds a minute later: the first estimate was a minute early, the second held.
  await s.recoup.upstreams.report({ upstream, success: false, block: blocked(MINUTE) });
  await s.db.advance(MINUTE);
  expect(await s.recoup.upstreams.report({ upstream, success: false, block: blocked(MINUTE) })).toMatchObject({
    outcome: 'reopened',
  });
  await s.db.advance(MINUTE);
  for (let trial = 0; trial < 4; trial++) {
    await s.recoup.upstreams.report({ upstream, success: true });
    await s.db.advance(10);
  }
  await s.db.advance(10 * MINUTE);
  const { block } = await s.recoup.upstreams.report({ upstream, success: false, block: blocked(MINUTE) });
  await s.recoup.upstreams.free(block!);
  expect(await scoreOf(s, pool)).toEqual([
    {
      ...{
        provider: pool,
        kind: 'rate_limited',
        source: 'retry_after',
        count: 5,
        held: 3,
        late: 1,
        early: 1,
        unknown: 1,
      },
      ...{ low: expect.any(Number), median: 0, high: expect.any(Number) },
    },
  ]);
  const [score] = await scoreOf(s, pool);
  expect([score!.low < 0, score!.high > 0]).toEqual([true, true]);
  const since = await s.db.now();
  expect(
    (await s.recoup.upstreams.estimates({ since })).filter(({ provider, count }) => provider === pool && count > 0),
  ).toEqual([]);
});

onEvery('blocked again within five minutes, it was not back', async (s) => {
  const { pool, names } = await poolOf(s, 1);
  const [upstream] = names as [string];
  await s.recoup.upstreams.report({ upstream, success: false, block: blocked(MINUTE) });
  await s.db.advance(30 * SECOND);
  await s.recoup.upstreams.report({ upstream, success: true });
  await s.db.advance(2 * MINUTE);
  await s.recoup.upstreams.report({ upstream, success: false, block: blocked(MINUTE) });
  expect(await scoreOf(s, pool)).toMatchObject([{ count: 1, held: 0, late: 0, early: 1 }]);
});

onEvery('with twenty that are known an estimate has its range, for an upstream and for its pool', async (s) => {
  const { pool, names } = await poolOf(s, 2);
  const [upstream, other] = names as [string, string];
  await s.recoup.upstreams.change(other, { status: 'off' });
  const explain = async () => (await s.recoup.upstreams.explain({ upstream }))[0]!;
  for (let i = 0; i < 19; i++) await backAfter(s, upstream, -20 * SECOND);
  await s.recoup.upstreams.report({ upstream, success: false, block: blocked(MINUTE) });
  await s.recoup.upstreams.estimates();
  expect((await explain()).estimate).toMatchObject({ source: 'retry_after', revision: 1, range: null });
  await s.db.advance(40 * SECOND);
  await s.recoup.upstreams.report({ upstream, success: true });
  await s.db.advance(10 * MINUTE);
  await s.recoup.upstreams.report({ upstream, success: false, block: blocked(MINUTE) });
  await s.recoup.upstreams.estimates();
  const { estimate, expectedRecoveryAt } = await explain();
  expect(ms(estimate!.at)).toBe(ms(expectedRecoveryAt));
  const range = { from: new Date(ms(estimate!.at) - 20 * SECOND), to: new Date(ms(estimate!.at) - 20 * SECOND) };
  expect(estimate).toMatchObject({ source: 'retry_after', range });
  expect((await s.recoup.upstreams.pool(pool)).estimate).toEqual(estimate);
  expect((await s.recoup.upstreams.select({ pool })).estimate).toEqual(estimate);
  expect((await s.recoup.upstreams.list({ pool })).upstreams.map((one) => one.estimate)).toEqual([estimate, null]);
});

onEvery(
  'a limit’s next window is sure, a person’s block has no time, what is usable has none to wait for',
  async (s) => {
    const { names } = await poolOf(s, 3);
    const [full, manual, fine] = names as [string, string, string];
    await s.recoup.upstreams.limits.set({
      limit: full,
      upstream: full,
      unit: 'requests',
      amount: 1,
      kind: 'daily',
      zone: 'UTC',
    });
    await s.recoup.upstreams.report({ upstream: full, success: true, use: { requests: 1 }, key: 'k' });
    await s.recoup.upstreams.block(manual, { reason: 'unpaid' });
    const estimates = await Promise.all(
      times(3, async (i) => (await s.recoup.upstreams.explain({ upstream: [full, manual, fine][i]! }))[0]!.estimate),
    );
    expect(estimates).toEqual([{ at: expect.any(Date), source: 'window', revision: null, range: null }, null, null]);
  },
);
