// Sticky keys: the same key has the same upstream while that one is usable, then another, and stays there.
import { expect } from 'vitest';
import type { Recoup } from '../src/index.ts';
import { tally, times } from './support/look.ts';
import { HOUR, MINUTE, poolOf, SECOND, soft } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();

/** Selects with a key and gives the slot back. */
async function used(s: Stage, pool: string, sticky: string | undefined, recoup: Recoup = s.recoup, more = {}) {
  const { upstream, lease } = await recoup.upstreams.select({
    pool,
    ...(sticky === undefined ? {} : { sticky }),
    ...more,
  });
  if (lease !== null) await recoup.upstreams.release(lease);
  return upstream;
}
const block = (s: Stage, upstream: string) => s.recoup.upstreams.report({ upstream, success: false, block: soft });

onEvery('ten conversations over five upstreams: each stays where it was, beside others that take turns', async (s) => {
  const { pool, names } = await poolOf(s, 5);
  const first = [];
  for (let i = 0; i < 10; i++) first.push(await used(s, pool, `c${i}`));
  expect(Object.values(tally(first as string[]))).toEqual([2, 2, 2, 2, 2]);
  for (let round = 0; round < 5; round++)
    for (let i = 0; i < 10; i++) {
      await used(s, pool, undefined);
      expect(await used(s, pool, `c${i}`)).toBe(first[i]);
    }
  expect(names).toHaveLength(5);
});

onEvery('when its own is blocked, off or full, it moves on, and stays there also when the first is back', async (s) => {
  const { pool, names } = await poolOf(s, 3, { maxConcurrency: 1 });
  const first = (await used(s, pool, 'c'))!;
  const { block: id } = await block(s, first);
  const second = (await used(s, pool, 'c'))!;
  expect(second).not.toBe(first);
  await s.recoup.upstreams.free(id!);
  expect(await used(s, pool, 'c')).toBe(second);
  await s.recoup.upstreams.change(second, { status: 'draining' });
  const third = (await used(s, pool, 'c'))!;
  expect(third).not.toBe(second);
  // Its one slot is out.
  const held = await s.recoup.upstreams.select({ pool, sticky: 'c' });
  expect(held.upstream).toBe(third);
  const fourth = (await used(s, pool, 'c'))!;
  expect(names).toContain(fourth);
  expect(fourth).not.toBe(third);
  await s.recoup.upstreams.release(held.lease!);
  expect(await used(s, pool, 'c')).toBe(fourth);
  for (const upstream of names) await s.recoup.upstreams.change(upstream, { status: 'off' });
  expect(await used(s, pool, 'c')).toBeNull();
});

onEvery(
  'it stays on one of lower priority; a block of another model moves nothing; keys are a pool’s own',
  async (s) => {
    const { pool, names } = await poolOf(s, 2);
    const [best, worse] = names as [string, string];
    await s.recoup.upstreams.change(worse, { priority: 9 });
    const { block: id } = await block(s, best);
    expect(await used(s, pool, 'c')).toBe(worse);
    await s.recoup.upstreams.free(id!);
    expect([await used(s, pool, 'c'), await used(s, pool, 'other')]).toEqual([worse, best]);
    await s.recoup.upstreams.report({ upstream: worse, success: false, block: { ...soft, scope: 'model:opus' } });
    expect(await used(s, pool, 'c', s.recoup, { model: 'haiku' })).toBe(worse);
    expect(await used(s, pool, 'c', s.recoup, { model: 'opus' })).toBe(best);
    const elsewhere = await poolOf(s, 1);
    expect(await used(s, elsewhere.pool, 'c')).toBe(elsewhere.names[0]);
  },
);

onEvery('a key that is used is remembered, one that is not is forgotten after its age, and swept', async (s) => {
  const { pool } = await poolOf(s, 2);
  const keys = async () =>
    Number((await s.db.query('select count(*)::int as n from recoup.affinities where pool = $1', [pool]))[0]!.n);
  const stickyMs = 10 * MINUTE;
  const first = await used(s, pool, 'c', s.recoup, { stickyMs });
  for (let i = 0; i < 10; i++) {
    await s.db.advance(9 * MINUTE);
    await used(s, pool, undefined);
    expect(await used(s, pool, 'c', s.recoup, { stickyMs })).toBe(first);
  }
  await s.recoup.sweep();
  expect(await keys()).toBe(1);
  await s.db.advance(HOUR);
  await s.recoup.sweep();
  expect(await keys()).toBe(0);
});

onEvery('a key that is forgotten in one pool stays in another, and another key of its pool stays', async (s) => {
  const [one, other] = [await poolOf(s, 1), await poolOf(s, 1)];
  await used(s, one.pool, 'c', s.recoup, { stickyMs: MINUTE });
  await used(s, one.pool, 'd', s.recoup, { stickyMs: HOUR });
  await used(s, other.pool, 'c', s.recoup, { stickyMs: HOUR });
  await s.db.advance(2 * MINUTE);
  await s.recoup.sweep();
  const keys = await s.db.query(
    'select pool, key from recoup.affinities where pool = any ($1) order by pool = $2 desc, key',
    [[one.pool, other.pool], one.pool],
  );
  expect(keys).toEqual([
    { pool: one.pool, key: 'd' },
    { pool: other.pool, key: 'c' },
  ]);
});

onEvery('50 first uses of one key at once on five replicas: one upstream', async (s) => {
  const replicas = await Promise.all(times(5, () => s.replica()));
  for (let round = 0; round < 5; round++) {
    const { pool } = await poolOf(s, 5);
    const picked = await Promise.all(times(50, (i) => used(s, pool, 'c', replicas[i % 5])));
    expect(Object.values(tally(picked as string[]))).toEqual([50]);
  }
});

onEvery(
  'a transaction that holds its upstream: the key takes another for once, and is back when it is over',
  async (s) => {
    const { pool } = await poolOf(s, 2);
    const first = await used(s, pool, 'c');
    const client = await s.client();
    await client.query('begin');
    await client.query('select from recoup.upstreams where id = $1 for update', [first]);
    const meanwhile = await used(s, pool, 'c');
    expect(meanwhile).not.toBeNull();
    expect(meanwhile).not.toBe(first);
    await client.query('commit');
    expect(await used(s, pool, 'c')).toBe(first);
  },
);

onEvery('a lost answer is asked for again by the id of its lease, with its key', async (s) => {
  const { pool } = await poolOf(s, 3);
  const select = { pool, sticky: 'c', lease: newId('lease') };
  const first = await s.recoup.upstreams.select(select);
  expect(await s.recoup.upstreams.select(select)).toEqual(first);
});

onFirst('wrong keys and ages are refused', async (s) => {
  for (const [more, field] of [
    [{ sticky: '' }, 'sticky'],
    [{ sticky: 'c', stickyMs: 999 }, 'stickyMs'],
  ] as const)
    await expect(s.recoup.upstreams.select({ pool: 'p', ...more })).rejects.toMatchObject({
      code: 'invalid',
      details: { field },
    });
});

void SECOND;
onEvery('the books are right', booksAreRight);
