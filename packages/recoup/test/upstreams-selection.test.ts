// Selection of upstreams: it passes over what is out, every slot is one hand's, and after a block trials come one, two, four, eight at a time.
import { expect } from 'vitest';
import { tally, times } from './support/look.ts';
import { failing, MINUTE, poolOf, SECOND, soft, types, use } from './support/pools.ts';
import { newId, staging } from './support/stage.ts';

const { onEvery } = staging();

onEvery(
  'when a block is over there is one trial, then 2, 4, 8, then all; whoever asks in between is told to come back',
  async (s) => {
    const { pool, names } = await poolOf(s, 1);
    await s.recoup.upstreams.report({ upstream: names[0]!, success: false, block: soft });
    await s.db.advance(31 * SECOND);
    for (const trials of [1, 2, 4, 8]) {
      const asked = await Promise.all(times(12, () => use(s, pool)));
      expect(asked.map(({ outcome }) => outcome).filter((outcome) => outcome === 'selected')).toHaveLength(trials);
      const [first, ...others] = asked.flatMap(({ lease }) => (lease === null ? [] : [lease]));
      await s.db.advance(10);
      await s.recoup.upstreams.report({ upstream: names[0]!, lease: first!, success: true });
      for (const lease of others) await s.recoup.upstreams.release(lease);
      await s.db.advance(10);
    }
    expect(tally((await Promise.all(times(12, () => use(s, pool)))).map(({ outcome }) => outcome))).toEqual({
      selected: 12,
    });
    expect(await types(s, names[0]!)).toEqual(['opened', 'trial', 'trial', 'trial', 'closed']);
  },
);

onEvery(
  '50 selections at once of a half-open upstream on five replicas: exactly one gets it; its lease lapses, one other does',
  async (s) => {
    const { pool, names } = await poolOf(s, 1);
    const replicas = await Promise.all(times(5, () => s.replica()));
    await s.recoup.upstreams.report({ upstream: names[0]!, success: false, block: soft });
    await s.db.advance(31 * SECOND);
    for (let round = 0; round < 3; round++) {
      const asked = await Promise.all(times(50, (i) => use(s, pool, replicas[i % 5])));
      expect(tally(asked.map(({ outcome }) => outcome))).toEqual({ selected: 1, none: 49 });
      await s.db.advance(61 * SECOND);
    }
  },
);

onEvery(
  'slots hold across replicas: of 40 selections at once three get one of three slots, and one that lapses is free again',
  async (s) => {
    const { pool, names } = await poolOf(s, 1, { maxConcurrency: 3 });
    const replicas = await Promise.all(times(4, () => s.replica()));
    const asked = await Promise.all(times(40, (i) => use(s, pool, replicas[i % 4])));
    expect(tally(asked.map(({ outcome }) => outcome))).toEqual({ selected: 3, none: 37 });
    expect(await failing(s, names[0]!)).toEqual(['slots']);
    const [one] = asked.flatMap(({ lease }) => (lease === null ? [] : [lease]));
    expect(await s.recoup.upstreams.extend(one!, 5 * MINUTE)).toMatchObject({ outcome: 'extended' });
    await s.db.advance(2 * MINUTE);
    expect(await s.recoup.upstreams.explain({ upstream: names[0]! })).toMatchObject([{ slotsOut: 1 }]);
    expect(await s.recoup.upstreams.release(one!)).toEqual({ outcome: 'released' });
    expect(await s.recoup.upstreams.release(one!)).toEqual({ outcome: 'duplicate' });
    expect(await s.recoup.upstreams.extend(one!)).toMatchObject({ outcome: 'stale' });
  },
);

onEvery('by priority, then by weight; a lost answer is asked for again by the id of its lease', async (s) => {
  const { pool, names } = await poolOf(s, 3);
  const [last, small, large] = names as [string, string, string];
  await s.recoup.upstreams.change(last, { priority: 9 });
  await s.recoup.upstreams.change(large, { weight: 3 });
  const picked = [];
  for (let i = 0; i < 40; i++) picked.push((await use(s, pool)).upstream);
  expect(tally(picked as string[])).toEqual({ [large]: 30, [small]: 10 });
  const lease = newId('lease');
  const first = await s.recoup.upstreams.select({ pool, lease });
  expect(await s.recoup.upstreams.select({ pool, lease })).toEqual(first);
});

onEvery(
  'what is off, draining or retired is not picked; what is under way may end; a late answer does not switch it on',
  async (s) => {
    const { pool, names } = await poolOf(s, 1);
    const { lease } = await use(s, pool);
    for (const status of ['draining', 'off', 'on', 'off'] as const) {
      expect(await s.recoup.upstreams.change(names[0]!, { status })).toEqual({ outcome: 'changed' });
      expect(await failing(s, names[0]!)).toEqual(status === 'on' ? [] : [status]);
    }
    expect(await s.recoup.upstreams.report({ upstream: names[0]!, lease: lease!, success: true })).toMatchObject({
      outcome: 'noted',
    });
    expect(await failing(s, names[0]!)).toEqual(['off']);
    await s.recoup.upstreams.change(names[0]!, { status: 'retired' });
    await expect(s.recoup.upstreams.change(names[0]!, { status: 'on' })).rejects.toMatchObject({
      code: 'upstream_retired',
    });
  },
);
