// Answers under rivals: read-outs against reports, closing against successes, read-outs against each other; on many replicas at once.
import { expect } from 'vitest';
import type { Recoup } from '../src/index.ts';
import { openBlocks } from './support/answers.ts';
import { tally, times } from './support/look.ts';
import { blockEvents, failing, HOUR, MINUTE, poolOf, SECOND, soft, types } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { untilWaiting, watch } from './support/waiting.ts';

const { onEvery } = staging();
const quota = {
  kind: 'quota_exhausted_upstream',
  policy: 'snapshot',
  source: 'reset_announced',
  forMs: 6 * HOUR,
} as const;
const replicasOf = (s: Stage) => Promise.all(times(4, () => s.replica()));
const blocked = (s: Stage, upstream: string, block: object, more = {}) =>
  s.recoup.upstreams.report({ upstream, success: false, block: block as never, ...more });
const right = async (s: Stage) => expect((await s.recoup.verify({ testClock: true })).problems).toEqual([]);

/** In rounds: something is blocked, then everybody calls at once, then the books are looked at. */
async function rounds(
  s: Stage,
  count: number,
  call: (recoup: Recoup, i: number) => Promise<unknown>,
  before: () => Promise<unknown>,
  after: () => Promise<void>,
) {
  const replicas = await replicasOf(s);
  for (let round = 0; round < 6; round++) {
    await before();
    await s.db.advance(SECOND);
    await Promise.all(times(count, (i) => call(replicas[i % 4]!, i)));
    await after();
    await right(s);
    await s.db.advance(SECOND);
  }
}

onEvery('40 read-outs of 12 % at once about one block: it closes once', async (s) => {
  const { names } = await poolOf(s, 1);
  const [upstream] = names as [string];
  const closed: number[] = [];
  await rounds(
    s,
    40,
    async ({ upstreams }) =>
      closed.push((await upstreams.note({ upstream, snapshots: [{ name: 'week', used: 0.12 }] })).closed),
    () => blocked(s, upstream, quota),
    async () => {
      expect(tally(closed.splice(0).map(String))).toEqual({ 0: 39, 1: 1 });
      expect(await failing(s, upstream)).toEqual([]);
    },
  );
  expect(tally(await types(s, upstream))).toEqual({ opened: 6, closed: 6 });
});

onEvery(
  'read-outs, failures, successes and people at one upstream at once: each event once, ends as its blocks say',
  async (s) => {
    const group = newId('project');
    const { names } = await poolOf(s, 3, { quotaGroup: group });
    await rounds(
      s,
      48,
      async ({ upstreams }, i) => {
        const upstream = names[i % 3]!;
        const subject = i % 2 ? 'quota_group' : 'upstream';
        if (i % 6 === 0) return upstreams.report({ upstream, success: true });
        if (i % 6 === 1) return upstreams.report({ upstream, success: false, block: { ...quota, subject } });
        if (i % 6 === 2) return upstreams.replaceCredential(upstream, { actor: `person ${i}` });
        const snapshots = [
          { name: 'week', used: i % 4 === 0 ? 1 : 0.1 * (i % 5), resetsAt: new Date(Date.now() + i * MINUTE) },
        ];
        return upstreams.note({ upstream, subject, snapshots });
      },
      async () => {
        await blocked(s, names[0]!, quota);
        await blocked(s, names[1]!, { ...quota, subject: 'quota_group' });
        await blocked(s, names[2]!, { kind: 'auth_revoked', policy: 'manual' });
      },
      async () => {
        for (const upstream of names)
          for (const { id } of await openBlocks(s, upstream)) await s.recoup.upstreams.free(id);
        for (const upstream of names) expect(await failing(s, upstream)).toEqual([]);
      },
    );
  },
);

onEvery(
  'windows of a group from many of its upstreams at once: the newest stands, whoever came last, and nobody is stuck',
  async (s) => {
    const { names } = await poolOf(s, 8, { quotaGroup: newId('project') });
    const replicas = await replicasOf(s);
    await s.stopClock();
    const start = Date.now();
    for (let round = 0; round < 4; round++) {
      const ages = times(64, (i) => 1000 * ((i * 37) % 64));
      // The same windows in different order, so that no order of theirs is everybody's.
      const windows = (age: number) => times(5, (i) => ({ name: `w${(i + age) % 5}`, used: age / 1e6 + round }));
      await Promise.all(
        ages.map((age, i) =>
          replicas[i % 4]!.upstreams.note({
            upstream: names[i % 8]!,
            subject: 'quota_group',
            snapshots: windows(age),
            observedAt: new Date(start - age - 1000),
          }),
        ),
      );
      const known = await s.recoup.upstreams.snapshots(names[0]!);
      expect(known.map(({ used }) => used)).toEqual(times(5, () => round));
      await s.db.advance(HOUR);
    }
  },
);

onEvery('a person frees a block while successes double its trials: closed once, and nothing after it', async (s) => {
  const { names } = await poolOf(s, 1);
  const [upstream] = names as [string];
  await rounds(
    s,
    24,
    async ({ upstreams }, i) => {
      if (i % 6 > 0) return upstreams.report({ upstream, success: true });
      for (const { id } of await openBlocks(s, upstream)) return upstreams.free(id, { actor: `person ${i}` });
      return undefined;
    },
    async () => {
      await blocked(s, upstream, soft);
      await blocked(s, upstream, { kind: 'billing', policy: 'manual' });
      await s.db.advance(31 * SECOND);
    },
    async () => {
      for (const { id } of await openBlocks(s, upstream)) await s.recoup.upstreams.free(id);
    },
  );
  const byBlock = new Map<number, string[]>();
  for (const { block, type } of await blockEvents(s, upstream)) {
    if (type === 'contradicted') continue;
    byBlock.set(block!, [...(byBlock.get(block!) ?? []), type]);
  }
  expect(byBlock.size).toBe(12);
  for (const events of byBlock.values())
    expect([events[0], events.at(-1), tally(events).closed]).toEqual(['opened', 'closed', 1]);
});

onEvery('a success that speaks against a manual block, from everybody at once: marked once', async (s) => {
  const { names } = await poolOf(s, 1);
  const [upstream] = names as [string];
  await blocked(s, upstream, { kind: 'billing', policy: 'manual' });
  await s.db.advance(SECOND);
  const replicas = await replicasOf(s);
  const reports = await Promise.all(
    times(40, (i) =>
      i % 2
        ? replicas[i % 4]!.upstreams.report({ upstream, answer: { status: 200 } })
        : replicas[i % 4]!.upstreams.note({ upstream, snapshots: [{ name: 'credit', used: 0.2 }] }),
    ),
  );
  expect(reports.every(({ closed }) => closed === 0)).toBe(true);
  expect(await types(s, upstream)).toEqual(['opened', 'contradicted']);
  expect(await openBlocks(s, upstream)).toMatchObject([{ contradicted: true }]);
});

onEvery('a read-out behind a transaction that has just blocked: it sees the block that it waited for', async (s) => {
  const { names } = await poolOf(s, 1);
  const [upstream] = names as [string];
  await blocked(s, upstream, quota);
  await s.db.advance(SECOND);
  const client = await s.client();
  await client.query('begin');
  // A failure of a later request: newer evidence than the read-out's.
  await s.recoup.using(client).upstreams.report({ upstream, success: false, block: { ...quota, forMs: 5 * HOUR } });
  const reading = watch(s.recoup.upstreams.note({ upstream, snapshots: [{ name: 'week', used: 0 }] }));
  await untilWaiting(s.db);
  expect(reading.settled).toBe(false);
  await client.query('commit');
  expect(await reading.call).toMatchObject({ outcome: 'noted', closed: 0 });
  expect(await failing(s, upstream)).toEqual(['blocked']);
  await right(s);
});

onEvery('the books are right', booksAreRight);
