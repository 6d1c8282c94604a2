// When a pool is back: for the scope that is asked, whoever of a large pool stands first, and not of those that wait for a person.
import { expect } from 'vitest';
import type { BlockFacts } from '../src/index.ts';
import { times } from './support/look.ts';
import { HOUR, MINUTE, poolOf, soft } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const model = 'large';
const manual: BlockFacts = { kind: 'billing', policy: 'manual' };
const out = (forMs: number): BlockFacts => ({ ...soft, source: 'reset_announced', forMs });

const block = (s: Stage, names: readonly string[], facts: BlockFacts) =>
  Promise.all(names.map((upstream) => s.recoup.upstreams.report({ upstream, success: false, block: facts })));

/** What the pool and a selection from it say. */
async function back(s: Stage, pool: string, asked: { model?: string } = {}) {
  const state = await s.recoup.upstreams.pool(pool, asked);
  const selected = await s.recoup.upstreams.select({ pool, ...asked });
  expect(selected).toMatchObject({ outcome: 'none', expectedRecoveryAt: state.expectedRecoveryAt });
  expect(selected.retryAfterMs).toBe(state.retryAfterMs);
  return state.expectedRecoveryAt;
}

onEvery('of many that a person has to free for a model, those that come back by time count', async (s) => {
  const now = await s.stopClock();
  const { pool, names } = await poolOf(s, 130);
  await block(s, names.slice(0, 128), { ...manual, scope: `model:${model}` });
  await block(s, names.slice(128), { ...out(2 * MINUTE), scope: `model:${model}` });
  expect(await back(s, pool, { model })).toEqual(new Date(now + 2 * MINUTE));
  expect(await s.recoup.upstreams.pool(pool)).toMatchObject({ usable: true });
  expect(await s.recoup.upstreams.pool(pool, { model: 'other' })).toMatchObject({ usable: true });
});

onEvery('of many under something manual that they share, the others count; where there are none, nobody', async (s) => {
  const now = await s.stopClock();
  for (const subject of ['quota_group', 'provider', 'route'] as const) {
    const shared = { provider: newId('x'), quotaGroup: newId('g'), route: newId('r') };
    const { pool, names } = await poolOf(s, 125, shared);
    await block(s, names.slice(0, 1), { ...manual, subject });
    expect([subject, await back(s, pool)]).toEqual([subject, null]);
    const upstream = `${pool}/late`;
    await s.recoup.upstreams.register({ upstream, pool, provider: newId('x') });
    await block(s, [upstream], out(HOUR));
    expect([subject, await back(s, pool)]).toEqual([subject, new Date(now + HOUR)]);
  }
});

onEvery('the one that is back first counts, wherever it stands among those that are out for the model', async (s) => {
  const now = await s.stopClock();
  const { pool, names } = await poolOf(s, 60);
  await block(s, names.slice(0, 59), { ...out(HOUR), scope: `model:${model}` });
  await block(s, names.slice(59), { ...out(MINUTE), scope: `model:${model}` });
  expect(await back(s, pool, { model })).toEqual(new Date(now + MINUTE));
  // Out for all: a minute longer than for the model.
  await block(s, names, out(2 * MINUTE));
  expect(await back(s, pool, { model })).toEqual(new Date(now + 2 * MINUTE));
  expect(await back(s, pool)).toEqual(new Date(now + 2 * MINUTE));
});

onEvery('in the list of pools each has its own', async (s) => {
  const now = await s.stopClock();
  const made = await Promise.all(times(3, () => poolOf(s, 25)));
  for (const [i, { names }] of made.entries()) await block(s, names, out((i + 1) * HOUR));
  await block(s, made[0]!.names, manual);
  const { pools } = await s.recoup.upstreams.pools({ limit: 1000 });
  const expected = (at: string) => pools.find(({ pool }) => pool === at)!.expectedRecoveryAt;
  expect(made.map(({ pool }) => expected(pool))).toEqual([null, new Date(now + 2 * HOUR), new Date(now + 3 * HOUR)]);
});

onEvery('the books are right', booksAreRight);
