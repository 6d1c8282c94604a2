// Trials among equals: who is half open has its turn as the others have theirs, whatever its uses prove.
import { expect } from 'vitest';
import { poolOf, SECOND, soft, types, use } from './support/pools.ts';
import { booksAreRight, staging } from './support/stage.ts';

const { onEvery } = staging();

onEvery('a trial that proves nothing costs one use in a round of its equals, however busy they are', async (s) => {
  const ends = {
    released: (_upstream: string, lease: string) => s.recoup.upstreams.release(lease),
    'of the request': (upstream: string, lease: string) =>
      s.recoup.upstreams.report({ upstream, lease, success: false }),
  };
  for (const [how, end] of Object.entries(ends)) {
    // Turns of busy ones run ahead of the clock, those of idle ones stay behind it.
    for (const busy of [0, 60]) {
      const { pool, names } = await poolOf(s, 4);
      await s.stopClock();
      const turn = async (ms: number) => {
        const { upstream, lease } = await s.recoup.upstreams.select({ pool });
        await end(upstream!, lease!);
        await s.db.advance(ms);
        return upstream!;
      };
      await s.recoup.upstreams.report({ upstream: names[0]!, success: false, block: soft });
      for (let i = 0; i < busy; i++) await turn(0);
      await s.db.advance(31 * SECOND);
      for (let i = 0; i < busy; i++)
        await s.recoup.upstreams.select({ pool }).then(({ lease }) => s.recoup.upstreams.release(lease!));
      const picked: string[] = [];
      for (let i = 0; i < 40; i++) picked.push(await turn(busy === 0 ? 700 : 10));
      const trials = picked.filter((upstream) => upstream === names[0]).length;
      expect([how, busy, trials]).toEqual([how, busy, 10]);
      // And never twice in a round.
      expect(picked.some((upstream, i) => upstream === names[0] && picked[i + 1] === upstream)).toBe(false);
    }
  }
});

onEvery(
  'who was not tried since its block was due comes first; where nobody else is left, it is tried each time',
  async (s) => {
    const { pool, names } = await poolOf(s, 3);
    const first = names[0]!;
    await use(s, pool);
    await s.recoup.upstreams.report({ upstream: first, success: false, block: soft });
    for (let i = 0; i < 20; i++) expect((await use(s, pool)).upstream).not.toBe(first);
    await s.db.advance(31 * SECOND);
    const trial = await use(s, pool);
    expect(trial.upstream).toBe(first);
    await s.recoup.upstreams.release(trial.lease!);
    expect((await use(s, pool)).upstream).not.toBe(first);
    for (const upstream of names.slice(1)) await s.recoup.upstreams.change(upstream, { status: 'off' });
    for (let i = 0; i < 3; i++) {
      const { upstream, lease } = await use(s, pool);
      expect(upstream).toBe(first);
      await s.recoup.upstreams.release(lease!);
    }
  },
);

onEvery('the ramp stays 1, 2, 4, 8 in its turns, and then it is closed', async (s) => {
  const { pool, names } = await poolOf(s, 2);
  const first = names[0]!;
  await s.recoup.upstreams.report({ upstream: first, success: false, block: soft });
  await s.db.advance(31 * SECOND);
  for (const trials of [1, 2, 4, 8]) {
    const leases: string[] = [];
    for (let i = 0; i < 40; i++) {
      const { upstream, lease } = await use(s, pool);
      if (upstream === first) leases.push(lease!);
      await s.db.advance(10);
    }
    expect(leases).toHaveLength(trials);
    await s.recoup.upstreams.report({ upstream: first, lease: leases.at(-1)!, success: true });
    for (const lease of leases) await s.recoup.upstreams.release(lease);
    await s.db.advance(SECOND);
  }
  expect(await types(s, first)).toEqual(['opened', 'trial', 'trial', 'trial', 'closed']);
});

onEvery('the books are right', booksAreRight);
