// What counts as news: trials of a block's own scope, requests that began after what was heard of it last, and how little a provider says is left.
import { expect } from 'vitest';
import type { BlockFacts } from '../src/index.ts';
import { times } from './support/look.ts';
import { blockEvents, failing, HOUR, MINUTE, poolOf, SECOND, soft, types, use } from './support/pools.ts';
import { newId, staging } from './support/stage.ts';

const { onEvery } = staging();
const ofModel: BlockFacts = { ...soft, scope: 'model:large' };

onEvery('uses of other models are no trials of a block on one model, at an upstream and at its provider', async (s) => {
  for (const subject of ['upstream', 'provider'] as const) {
    const { pool, names } = await poolOf(s, 1);
    await s.recoup.upstreams.report({ upstream: names[0]!, success: false, block: { ...ofModel, subject } });
    await s.db.advance(31 * SECOND);
    for (const model of ['small', 'small', 'other'])
      expect(await s.recoup.upstreams.select({ pool, model })).toMatchObject({ outcome: 'selected' });
    expect(await s.recoup.upstreams.select({ pool })).toMatchObject({ outcome: 'selected' });
    expect(await failing(s, names[0]!, 'large')).toEqual([]);
    expect(await s.recoup.upstreams.select({ pool, model: 'large' })).toMatchObject({ outcome: 'selected' });
    expect(await failing(s, names[0]!, 'large')).toEqual(['trial']);
    expect(await s.recoup.upstreams.select({ pool, model: 'large' })).toMatchObject({ outcome: 'none' });
  }
});

onEvery('what was under way when a person or a success ended the block does not open it again', async (s) => {
  const ends = {
    operator: (upstream: string, block: number) => s.recoup.upstreams.free(block, { reason: upstream }),
    success: (upstream: string) => s.recoup.upstreams.report({ upstream, success: true }),
  };
  for (const end of Object.values(ends)) {
    const { pool, names } = await poolOf(s, 1);
    const leases = await Promise.all(times(3, () => use(s, pool)));
    await s.db.advance(SECOND);
    const [first, ...others] = leases.map(({ lease }) => lease!);
    const report = (lease: string) =>
      s.recoup.upstreams.report({ upstream: names[0]!, lease, success: false, block: soft });
    const { block } = await report(first!);
    await s.db.advance(SECOND);
    await end(names[0]!, block!);
    await s.db.advance(SECOND);
    for (const lease of others) expect(await report(lease)).toMatchObject({ outcome: 'duplicate', block: null });
    expect(await types(s, names[0]!)).toEqual(['opened', 'closed']);
    // A request that began after the end is news.
    const { lease } = await use(s, pool);
    await s.db.advance(SECOND);
    expect(await report(lease!)).toMatchObject({ outcome: 'blocked' });
  }
});

onEvery('an end by time knows nothing: a failure that was under way then is heard', async (s) => {
  const { names } = await poolOf(s, 1);
  await s.recoup.upstreams.report({ upstream: names[0]!, success: false, block: soft });
  await s.db.advance(26 * HOUR);
  await s.recoup.sweep();
  expect(await types(s, names[0]!)).toEqual(['opened', 'closed']);
  await s.db.advance(SECOND);
  const late = { upstream: names[0]!, success: false, elapsedMs: MINUTE, block: soft };
  expect(await s.recoup.upstreams.report(late)).toMatchObject({ outcome: 'blocked' });
});

onEvery(
  'a success of a request that began before the end of a block ends it, also where it is told after it',
  async (s) => {
    const { names } = await poolOf(s, 1);
    await s.recoup.upstreams.report({ upstream: names[0]!, success: false, block: soft });
    await s.db.advance(40 * SECOND);
    const success = { upstream: names[0]!, success: true };
    expect(await s.recoup.upstreams.report({ ...success, elapsedMs: 20 * SECOND })).toMatchObject({ closed: 1 });
    expect((await blockEvents(s, names[0]!)).at(-1)).toMatchObject({ type: 'closed', closedAs: 'success' });
  },
);

onEvery('a lease that is out is not given again in another pool', async (s) => {
  const [one, other] = [await poolOf(s, 1), await poolOf(s, 1)];
  const lease = newId('lease');
  const given = await s.recoup.upstreams.select({ pool: one.pool, lease });
  await expect(s.recoup.upstreams.select({ pool: other.pool, lease })).rejects.toMatchObject({ code: 'conflict' });
  expect(await s.recoup.upstreams.select({ pool: one.pool, lease })).toEqual(given);
  await s.recoup.upstreams.release(lease);
  expect(await s.recoup.upstreams.select({ pool: other.pool, lease })).toMatchObject({ upstream: other.names[0] });
});

onEvery(
  'who has little left comes after the others of its priority, until its window ends or it has more again',
  async (s) => {
    const { pool, names } = await poolOf(s, 3);
    const [tight, ...others] = names;
    const clock = async () => new Date(await s.db.now());
    const note = async (used: number) =>
      s.recoup.upstreams.note({
        upstream: tight!,
        observedAt: await clock(),
        snapshots: [{ name: 'weekly', used, resetsAt: new Date((await clock()).getTime() + HOUR) }],
      });
    const picked = async (count = 6) => {
      const all = [];
      for (let i = 0; i < count; i++) all.push((await use(s, pool)).upstream!);
      return new Set(all);
    };
    await note(0.5);
    expect(await picked()).toEqual(new Set(names));
    await note(0.95);
    expect(await s.recoup.upstreams.explain({ upstream: tight! })).toMatchObject([
      { usable: true, tightUntil: expect.any(Date) },
    ]);
    expect(await picked()).toEqual(new Set(others));
    for (const upstream of others) await s.recoup.upstreams.change(upstream, { status: 'off' });
    expect(await picked()).toEqual(new Set([tight]));
    for (const upstream of others) await s.recoup.upstreams.change(upstream, { status: 'on' });
    await note(0.2);
    await s.db.advance(MINUTE);
    expect(await s.recoup.upstreams.explain({ upstream: tight! })).toMatchObject([{ tightUntil: null }]);
    expect(await picked()).toEqual(new Set(names));
    await note(0.99);
    await s.db.advance(HOUR + MINUTE);
    expect(await s.recoup.upstreams.explain({ upstream: tight! })).toMatchObject([{ tightUntil: null }]);
    expect(await picked()).toEqual(new Set(names));
  },
);

onEvery('one that was away, or is new, does not make up for what it missed', async (s) => {
  const { pool, names } = await poolOf(s, 2);
  const [one, other] = names as [string, string];
  const tally = async (count: number) => {
    const picked: Record<string, number> = {};
    for (let i = 0; i < count; i++) {
      const { upstream, lease } = await use(s, pool);
      picked[upstream!] = (picked[upstream!] ?? 0) + 1;
      await s.recoup.upstreams.release(lease!);
    }
    return picked;
  };
  await s.recoup.upstreams.change(other, { status: 'off' });
  await tally(60);
  await s.recoup.upstreams.change(other, { status: 'on' });
  const after = await tally(40);
  expect(after[one]).toBeGreaterThanOrEqual(17);
  await s.recoup.upstreams.register({ upstream: `${pool}/new`, pool, provider: pool });
  const three = await tally(60);
  for (const upstream of [one, other]) expect(three[upstream]).toBeGreaterThanOrEqual(16);
});

onEvery('a success counts for what its lease was for, also where the report does not say it again', async (s) => {
  const { pool, names } = await poolOf(s, 1);
  await s.recoup.upstreams.report({ upstream: names[0]!, success: false, block: ofModel });
  await s.db.advance(31 * SECOND);
  for (const closed of [0, 0, 0, 1]) {
    const { lease } = await s.recoup.upstreams.select({ pool, model: 'large' });
    await s.db.advance(10);
    const success = { upstream: names[0]!, lease: lease!, success: true };
    expect(await s.recoup.upstreams.report(success)).toMatchObject({ closed });
    await s.db.advance(10);
  }
});

onEvery('a person blocks again what he freed a moment ago, also by a clock that was set back', async (s) => {
  const { names } = await poolOf(s, 1);
  const { block } = await s.recoup.upstreams.block(names[0]!, { reason: 'unpaid' });
  await s.recoup.upstreams.free(block!);
  await s.db.advance(-10 * SECOND);
  expect(await s.recoup.upstreams.block(names[0]!, { reason: 'unpaid' })).toMatchObject({ outcome: 'blocked' });
});

onEvery('trouble of a provider does not end an order to wait', async (s) => {
  const { pool, names } = await poolOf(s, 3);
  const order: BlockFacts = { kind: 'server_error', policy: 'auto', source: 'retry_after', forMs: 30 * MINUTE };
  for (const upstream of names) await s.recoup.upstreams.report({ upstream, success: false, block: order });
  expect(await failing(s, names[0]!)).toEqual(['blocked', 'blocked']);
  await s.db.advance(31 * SECOND);
  expect(await use(s, pool)).toMatchObject({ outcome: 'none' });
});

onEvery('a 401 of a use with the credential before is old, whatever the clock says of its replacement', async (s) => {
  const { pool, names } = await poolOf(s, 1);
  const { lease } = await use(s, pool);
  await s.db.advance(-10 * SECOND);
  await s.recoup.upstreams.replaceCredential(names[0]!, { credentialRef: 'vault/new' });
  await s.db.advance(30 * SECOND);
  const revoked = { kind: 'auth_revoked', policy: 'manual' } as const;
  const report = (of: string) =>
    s.recoup.upstreams.report({ upstream: names[0]!, lease: of, success: false, block: revoked });
  expect(await report(lease!)).toMatchObject({ outcome: 'duplicate' });
  expect(await failing(s, names[0]!)).toEqual([]);
  const { lease: later } = await use(s, pool);
  await s.db.advance(SECOND);
  expect(await report(later!)).toMatchObject({ outcome: 'blocked' });
});

onEvery('a window without a reset that is not told of any more keeps nothing out for ever', async (s) => {
  const { names } = await poolOf(s, 1);
  const upstream = names[0]!;
  const note = (name: string, used: number) => s.recoup.upstreams.note({ upstream, snapshots: [{ name, used }] });
  const quota: BlockFacts = {
    kind: 'quota_exhausted_upstream',
    policy: 'snapshot',
    source: 'reset_announced',
    forMs: 30 * 24 * HOUR,
  };
  await note('five_hour', 1);
  await s.recoup.upstreams.report({ upstream, success: false, block: quota });
  await s.db.advance(HOUR);
  await note('5h', 0.12);
  expect(await failing(s, upstream)).toEqual(['blocked']);
  await s.db.advance(25 * HOUR);
  await note('5h', 0.13);
  expect(await failing(s, upstream)).toEqual([]);
});
