// What comes twice, late, or from two sides at once about one upstream: lease ids, reports, blocks that become manual.
import { expect } from 'vitest';
import type { BlockFacts } from '../src/index.ts';
import { answer, times } from './support/look.ts';
import { poolOf, SECOND, soft, types } from './support/pools.ts';
import { booksAreRight, newId, staging } from './support/stage.ts';

const { onEvery } = staging();
const limited: BlockFacts = { kind: 'limited', source: 'backoff', policy: 'auto' };
const manual: BlockFacts = { ...limited, policy: 'manual', nextStep: 'pay' };

onEvery(
  'one lease id from 40 callers at once, on four replicas: one lease, and nobody hears of an error',
  async (s) => {
    const { pool } = await poolOf(s, 5);
    const replicas = await Promise.all(times(4, () => s.replica()));
    for (let round = 0; round < 10; round++) {
      const lease = newId('lease');
      const got = await Promise.all(times(40, (i) => replicas[i % 4]!.upstreams.select({ pool, lease })));
      expect(new Set(got.map(({ outcome, upstream }) => `${outcome} ${upstream}`)).size).toBe(1);
      const [row] = await s.db.query('select upstream_id from recoup.upstream_leases where id = $1', [lease]);
      expect(got[0]).toMatchObject({ outcome: 'selected', upstream: row?.upstream_id });
    }
  },
);

onEvery('a lease that lapsed is no answer: its slot may be another’s, so the same id is given a new one', async (s) => {
  const { pool, names } = await poolOf(s, 1, { maxConcurrency: 1 });
  const lease = newId('lease');
  const first = await s.recoup.upstreams.select({ pool, lease, leaseMs: SECOND });
  await s.db.advance(2 * SECOND);
  const other = await s.recoup.upstreams.select({ pool, leaseMs: SECOND });
  expect(other.upstream).toBe(names[0]);
  expect(await s.recoup.upstreams.select({ pool, lease, leaseMs: SECOND })).toMatchObject({ outcome: 'none' });
  await s.recoup.upstreams.release(other.lease!);
  const again = await s.recoup.upstreams.select({ pool, lease, leaseMs: SECOND });
  expect(again).toMatchObject({ outcome: 'selected', lease });
  expect(again.leaseUntil!.getTime() - first.leaseUntil!.getTime()).toBeGreaterThanOrEqual(2 * SECOND);
});

onEvery('a report whose answer was lost, sent again later, is not taken for a request of now', async (s) => {
  const { pool, names } = await poolOf(s, 1);
  const upstream = names[0]!;
  const { lease } = await s.recoup.upstreams.select({ pool });
  await s.db.advance(SECOND);
  const success = { upstream, lease: lease!, success: true };
  expect(await answer(s.recoup.upstreams.report(success))).toBe('noted');
  const failed = await s.recoup.upstreams.report({ upstream, success: false, block: soft });
  await s.db.advance(SECOND);
  // Its request began before the block: it closes nothing, however often it comes.
  expect(await s.recoup.upstreams.report(success)).toMatchObject({ outcome: 'duplicate', closed: 0 });
  expect(await s.recoup.upstreams.report({ ...success, success: false, block: soft })).toMatchObject({
    ...{ outcome: 'duplicate', block: failed.block, step: 1 },
  });
  expect(await types(s, upstream)).toEqual(['opened']);
  // Who says when it started is heard without the lease.
  expect(await s.recoup.upstreams.report({ ...success, elapsedMs: 0 })).toMatchObject({ outcome: 'noted', closed: 1 });
});

onEvery('a block becomes manual when a later failure says so, and stays it whatever others say', async (s) => {
  const { names } = await poolOf(s, 2);
  const [upstream, other] = names as [string, string];
  const { block } = await s.recoup.upstreams.report({ upstream, success: false, block: limited });
  await s.db.advance(SECOND);
  const worse = { outcome: 'extended', block, until: null, step: 1 };
  expect(await s.recoup.upstreams.report({ upstream, success: false, block: manual })).toMatchObject(worse);
  const [one] = await s.recoup.upstreams.explain({ upstream });
  expect(one!.failing).toMatchObject([{ check: 'blocked', policy: 'manual', until: null, nextStep: 'pay' }]);
  await s.db.advance(SECOND);
  expect(await s.recoup.upstreams.report({ upstream, success: false, block: limited })).toMatchObject({
    ...{ outcome: 'duplicate', block, until: null },
  });
  expect(await s.recoup.upstreams.report({ upstream, success: true })).toMatchObject({ closed: 0 });
  const due = await s.recoup.upstreams.report({ upstream: other, success: false, block: limited });
  await s.db.advance(31 * SECOND);
  expect(await s.recoup.upstreams.report({ upstream: other, success: false, block: manual })).toMatchObject({
    ...{ outcome: 'reopened', block: due.block, until: null, step: 2 },
  });
});

onEvery('a probe or a snapshot does not end a manual block; a person or a new credential does', async (s) => {
  const { names } = await poolOf(s, 2);
  for (const [i, as] of (['operator', 'credential'] as const).entries()) {
    const { block } = await s.recoup.upstreams.block(names[i]!, { reason: 'unpaid' });
    for (const no of ['probe', 'snapshot'] as const)
      await expect(s.recoup.upstreams.free(block!, { as: no })).rejects.toMatchObject({ code: 'manual_block' });
    expect(await s.recoup.upstreams.free(block!, { as })).toEqual({ outcome: 'closed' });
  }
});

onEvery('one block ended by two at once, in one statement: one of them ends it', async (s) => {
  const { names } = await poolOf(s, 1);
  for (let round = 0; round < 5; round++) {
    const { block } = await s.recoup.upstreams.block(names[0]!, { reason: 'unpaid' });
    const got = await Promise.all(times(4, (i) => answer(s.recoup.upstreams.free(block!, { actor: `person ${i}` }))));
    expect(got.sort()).toEqual(['closed', 'duplicate', 'duplicate', 'duplicate']);
  }
});

onEvery('trouble of the provider does not end what needs a person at one of its upstreams', async (s) => {
  const { names } = await poolOf(s, 4);
  const broken: BlockFacts = { kind: 'server_error', policy: 'auto' };
  const unpaid: BlockFacts = { ...broken, source: 'operator', policy: 'manual' };
  const upstream = names[0]!;
  await s.recoup.upstreams.report({ upstream, success: false, block: unpaid });
  for (const name of names) await s.recoup.upstreams.report({ upstream: name, success: false, block: broken });
  const [one] = await s.recoup.upstreams.explain({ upstream });
  expect(one!.failing).toMatchObject([{ policy: 'manual' }, { subject: expect.stringMatching(/^provider:/) }]);
});

onEvery('after all of it the books are right', booksAreRight);
