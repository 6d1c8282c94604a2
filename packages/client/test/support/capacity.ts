// Every operation on upstreams, blocks, limits, pools, estimates and the inbox through the client.
import { expect, expectTypeOf } from 'vitest';
import type { RecoupClient } from '../../src/index.ts';
import { collect, newId } from './stand.ts';

export async function callCapacity(client: RecoupClient): Promise<void> {
  const [pool, upstream, lease] = [newId('pool'), newId('an/upstream ä'), newId('lease')];
  const account = { upstream, pool, provider: newId('provider'), maxConcurrency: 1 };
  expect(await client.upstreams.register(account)).toEqual({ outcome: 'registered' });
  expect(await client.upstreams.change({ upstream, weight: 2 })).toEqual({ outcome: 'changed' });
  expect(await client.upstreams.change({ upstream, maxConcurrency: null })).toEqual({ outcome: 'changed' });
  expect(await client.upstreams.change({ upstream, maxConcurrency: 1, quotaGroup: null })).toEqual({
    outcome: 'changed',
  });
  const selected = await client.upstreams.select({ pool, lease });
  expect(selected).toMatchObject({ outcome: 'selected', upstream, lease, retryAfterMs: null });
  expect(await client.upstreams.select({ pool, lease })).toEqual(selected);
  expect(await client.upstreams.select({ pool })).toMatchObject({ outcome: 'none', lease: null, retryAfterMs: 1000 });
  expect(await client.upstreams.extend({ lease })).toMatchObject({ outcome: 'extended' });
  const limit = { kind: 'rate_limited', policy: 'auto', source: 'retry_after', forMs: 60_000 } as const;
  const reported = await client.upstreams.report({ upstream, lease, success: false, block: limit });
  expect(reported).toMatchObject({ outcome: 'blocked', step: 1, closed: 0 });
  expect(await client.upstreams.release({ lease })).toEqual({ outcome: 'duplicate' });
  const { block } = await client.upstreams.block({ upstream, reason: 'by hand', actor: 'ann' });
  expectTypeOf(block).toEqualTypeOf<number>();
  const open = await collect(client.blocks.list.each({ limit: 1 }));
  expect(open.map((one) => one.block)).toEqual([reported.block, block]);
  expect(await client.upstreams.explain({ upstream })).toMatchObject({
    usable: false,
    failing: [{ policy: 'manual', nextStep: null }, { policy: 'auto' }],
    expectedRecoveryAt: null,
  });
  expect(await client.upstreams.free({ block })).toEqual({ outcome: 'closed' });
  const events = await collect(client.upstreams.history.each({ upstream, limit: 1 }));
  expect(events.map(({ type }) => type)).toEqual([
    'closed',
    'opened',
    'opened',
    'changed',
    'changed',
    'changed',
    'registered',
  ]);
  expect(await collect(client.upstreams.list.each({ pool, limit: 1 }))).toMatchObject([{ upstream, usable: false }]);
  expect(await client.pools.get({ pool })).toMatchObject({ usable: false });
  expect((await client.pools.explain({ pool })).upstreams).toMatchObject([{ upstream }]);
  expect(await collect(client.pools.list.each({ limit: 1 }))).toMatchObject([{ pool, total: 1, usable: 0 }]);
  expect(await client.upstreams.list({ pool, usable: true })).toEqual({ upstreams: [], cursor: null });
  expect(await client.upstreams.history({ upstream, oldestFirst: true })).toMatchObject({ cursor: null });
  expect(await client.blocks.list({ subject: 'route' })).toEqual({ blocks: [], cursor: null });
  expect(await client.pools.list()).toMatchObject({ pools: [{ pool }], cursor: null });
  const limit2 = newId('limit');
  const limits = { upstream, unit: 'tokens', amount: 10, kind: 'rolling', lengthMs: 60_000 } as const;
  expect(await client.limits.set({ limit: limit2, ...limits })).toEqual({ outcome: 'set' });
  const answer = { status: 200, headers: { 'content-type': ['text/plain'] }, body: 'fine' };
  expect(await client.upstreams.report({ upstream, answer, key: 'k', use: { tokens: 4 } })).toMatchObject({
    outcome: 'noted',
    use: 'booked',
    class: null,
  });
  expect(await client.limits.list({ upstream })).toMatchObject({ limits: [{ limit: limit2, used: 4 }] });
  expect(await client.limits.reset({ limit: limit2 })).toEqual({ outcome: 'reset' });
  expect((await client.limits.windows({ limit: limit2 })).windows.length).toBeGreaterThan(0);
  expect((await client.estimates.report({})).scores).toEqual(expect.any(Array));
  expect(await client.limits.end({ limit: limit2 })).toEqual({ outcome: 'ended' });
  expect(await client.limits.get({ limit: limit2 })).toMatchObject({ endedAt: expect.any(String) });
  expect(await client.upstreams.note({ upstream, snapshots: [{ name: 'w', used: 0.5 }] })).toMatchObject({
    outcome: 'noted',
  });
  expect((await client.upstreams.snapshots({ upstream })).snapshots).toMatchObject([{ name: 'w', used: 0.5 }]);
  const item = `block:${(await client.upstreams.block({ upstream, reason: 'x' })).block}`;
  expect((await collect(client.inbox.list.each({ limit: 1 }))).map((one) => one.item)).toEqual([item]);
  expect(await client.inbox.list()).toMatchObject({ items: [{ item }], cursor: null });
  expect(await client.inbox.take({ item, actor: 'ann' })).toEqual({ outcome: 'taken', owner: 'ann' });
  expect(await client.inbox.note({ item, actor: 'ann', note: 'asked' })).toMatchObject({ outcome: 'noted' });
  expect(await client.inbox.snooze({ item, actor: 'ann', forMs: 1000 })).toEqual({ outcome: 'snoozed' });
  expect(await client.upstreams.replaceCredential({ upstream, credentialRef: 'v' })).toMatchObject({ closed: 0 });
  await client.queues.configure({ queue: pool, pool });
  await client.wallets.open({ wallet: pool, customer: 'ann' });
  await client.jobs.submit({ wallet: pool, job: 'j', queue: pool, price: 0 });
  expect(await client.queues.lease({ queue: pool })).toMatchObject({ jobs: [], out: { pool, reason: 'operator' } });
  await client.upstreams.register({ upstream: `${upstream}2`, pool, provider: pool });
  const { jobs } = await client.queues.lease({ queue: pool });
  expect(jobs).toMatchObject([{ upstream: { upstream: `${upstream}2`, credentialRef: null } }]);
  const said = { wallet: pool, job: 'j', attempt: 1, answer: { status: 429, headers: { 'retry-after': '9' } } };
  const told = await client.jobs.report(said);
  expect(told).toMatchObject({ means: 'release', outcome: 'released', upstream: { class: 'rate_limited' } });
  expectTypeOf(told.refunded).toEqualTypeOf<boolean>();
  for (const wrong of ['1', 1.5, null, undefined])
    await expect(client.upstreams.free({ block: wrong as never })).rejects.toMatchObject({
      code: 'invalid',
      details: { field: 'block' },
    });
  await expect(client.upstreams.free({ block: 2 ** 40 })).rejects.toMatchObject({ code: 'no_block', status: 404 });
}
