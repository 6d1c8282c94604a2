// Upstreams under rivals: transactions that hold one, trials that are counted across many, reports and selections at once.
import { expect } from 'vitest';
import type { BlockFacts } from '../src/index.ts';
import { answer, tally, times } from './support/look.ts';
import { failing, poolOf, SECOND, soft, types, use } from './support/pools.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';
import { untilWaiting, watch } from './support/waiting.ts';

const { onEvery } = staging();
const overloaded: BlockFacts = { kind: 'overloaded', policy: 'auto', subject: 'provider' };

/** A transaction of somebody's that has reported about an upstream, and is not over. */
async function holding(s: Stage, upstream: string) {
  const client = await s.client();
  await client.query('begin');
  await s.recoup.using(client).upstreams.report({ upstream, success: false, block: soft });
  return client;
}

onEvery(
  'a transaction that holds an upstream stalls reports about that one alone; selection passes over it',
  async (s) => {
    const { pool, names } = await poolOf(s, 3);
    const [held, ...free] = names as [string, string, string];
    const client = await holding(s, held);
    const report = watch(s.recoup.upstreams.report({ upstream: held, success: false, elapsedMs: 60_000, block: soft }));
    await untilWaiting(s.db);
    for (let i = 0; i < 6; i++) {
      const { upstream, lease } = await use(s, pool);
      expect(free).toContain(upstream);
      expect(await s.recoup.upstreams.report({ upstream: upstream!, lease: lease!, success: true })).toMatchObject({
        outcome: 'noted',
      });
    }
    expect(report.settled).toBe(false);
    await client.query('commit');
    expect(await report.call).toMatchObject({ outcome: 'duplicate' });
    expect(await types(s, held)).toEqual(['opened']);
  },
);

onEvery(
  'a report about an upstream that stays held is refused as upstream_busy, and told to the metrics so',
  async (s) => {
    const { names } = await poolOf(s, 2);
    const told: string[] = [];
    const onTransition = (transition: string, outcome: string) => void told.push(`${transition} ${outcome}`);
    const replica = await s.replica({ lockTimeoutMs: 200, onTransition });
    const client = await holding(s, names[0]!);
    const failure = { upstream: names[0]!, success: false, block: { kind: 'rate_limited', policy: 'auto' as const } };
    await expect(replica.upstreams.report(failure)).rejects.toMatchObject({
      code: 'upstream_busy',
      details: { upstream: names[0] },
    });
    await expect(replica.upstreams.change(names[0]!, { weight: 3 })).rejects.toMatchObject({ code: 'upstream_busy' });
    // A success that no block stands against waits for nobody.
    for (const upstream of names.slice(0, 2))
      expect(await replica.upstreams.report({ upstream, success: true })).toMatchObject({ outcome: 'noted' });
    await client.query('rollback');
    expect(await replica.upstreams.change(names[0]!, { weight: 3 })).toMatchObject({ outcome: 'changed' });
    expect(told).toEqual([
      ...['upstream.report upstream_busy', 'upstream.register upstream_busy'],
      ...['upstream.report noted', 'upstream.report noted', 'upstream.register changed'],
    ]);
  },
);

onEvery(
  '50 selections at once over five upstreams of a provider that is half open: one trial, then two, then four',
  async (s) => {
    const { pool, names } = await poolOf(s, 5);
    const replicas = await Promise.all(times(5, () => s.replica()));
    await s.recoup.upstreams.report({ upstream: names[0]!, success: false, block: overloaded });
    await s.db.advance(31 * SECOND);
    for (const trials of [1, 2, 4]) {
      const asked = await Promise.all(times(50, (i) => use(s, pool, replicas[i % 5])));
      expect(tally(asked.map(({ outcome }) => outcome))).toEqual({ selected: trials, none: 50 - trials });
      const [first, ...others] = asked.filter(({ lease }) => lease !== null);
      await s.db.advance(10);
      await s.recoup.upstreams.report({ upstream: first!.upstream!, lease: first!.lease!, success: true });
      for (const { lease } of others) await s.recoup.upstreams.release(lease!);
      await s.db.advance(10);
    }
  },
);

onEvery(
  'what shares one block succeeds, fails and is freed at once: each counts once, and the history has it in order',
  async (s) => {
    const { names } = await poolOf(s, 4);
    const replicas = await Promise.all(times(4, () => s.replica()));
    for (let round = 0; round < 8; round++) {
      const { block } = await s.recoup.upstreams.report({ upstream: names[0]!, success: false, block: overloaded });
      await s.db.advance(31 * SECOND);
      const calls = times(24, (i) => {
        const { upstreams } = replicas[i % 4]!;
        const upstream = names[(i + round) % 4]!;
        if (i === 23) return upstreams.free(block!, { actor: 'ann' });
        return i % 4 === 3
          ? upstreams.report({ upstream, success: false, block: overloaded })
          : upstreams.report({ upstream, success: true });
      });
      await Promise.all(calls);
      for (const one of await s.recoup.upstreams.explain({ upstream: names[0]! }))
        for (const { block: open } of one.failing) await s.recoup.upstreams.free(open!);
      await s.db.advance(1000);
      const { problems } = await s.recoup.verify({ testClock: true });
      expect(problems).toEqual([]);
    }
    const history = await s.recoup.upstreams.history(names[0]!);
    expect(history.map(({ at }) => at.getTime())).toEqual(history.map(({ at }) => at.getTime()).sort((a, b) => a - b));
  },
);

onEvery(
  'successes of trials that ran side by side under one shared block: one doubles, the others say nothing more',
  async (s) => {
    const { names } = await poolOf(s, 3);
    await s.recoup.upstreams.report({ upstream: names[0]!, success: false, block: overloaded });
    await s.db.advance(31 * SECOND);
    const reports = names.map((upstream) => s.recoup.upstreams.report({ upstream, success: true }));
    await Promise.all(reports);
    expect(await types(s, names[0]!)).toEqual(['opened', 'trial']);
    for (const closed of [0, 0, 1]) {
      await s.db.advance(10);
      expect(await s.recoup.upstreams.report({ upstream: names[1]!, success: true })).toMatchObject({ closed });
    }
  },
);

onEvery('whoever waits for an upstream or a block while it is selected sees what he waited for', async (s) => {
  const { pool, names } = await poolOf(s, 1);
  const [upstream] = names as [string];
  /** Selects in a transaction, begins the call, which stands in line, and commits. */
  const behindSelect = async <T>(call: () => Promise<T>) => {
    const client = await s.client();
    await client.query('begin');
    expect((await s.recoup.using(client).upstreams.select({ pool })).outcome).toBe('selected');
    const waiting = watch(call());
    await untilWaiting(s.db);
    await client.query('commit');
    return waiting.call;
  };
  const right = async () => expect((await s.recoup.verify({ testClock: true })).problems).toEqual([]);
  const { upstreams } = s.recoup;
  await s.db.advance(0);
  expect(await behindSelect(() => upstreams.report({ upstream, success: false, block: soft }))).toMatchObject({
    outcome: 'blocked',
  });
  await right();
  await s.db.advance(31 * SECOND);
  const [one] = await upstreams.explain({ upstream });
  expect(one!.failing).toEqual([]);
  expect(await behindSelect(() => upstreams.report({ upstream, success: true }))).toMatchObject({ outcome: 'noted' });
  expect(await types(s, upstream)).toEqual(['opened', 'trial']);
  const [row] = await s.db.query('select id::int from recoup.blocks where subject_id = $1', [upstream]);
  expect(await behindSelect(() => upstreams.free(Number(row!.id)))).toEqual({ outcome: 'closed' });
  await right();
  const block = (await upstreams.report({ upstream, success: false, block: overloaded })).block!;
  await s.db.advance(31 * SECOND);
  expect(await behindSelect(() => upstreams.report({ upstream, success: true }))).toMatchObject({ outcome: 'noted' });
  expect(await behindSelect(() => upstreams.free(block))).toEqual({ outcome: 'closed' });
  expect((await types(s, upstream)).slice(-3)).toEqual(['opened', 'trial', 'closed']);
  await right();
});

onEvery('a report about what is off or retired changes its blocks and never its status', async (s) => {
  const { names } = await poolOf(s, 2);
  for (const [i, status] of (['off', 'retired'] as const).entries()) {
    const upstream = names[i]!;
    await s.recoup.upstreams.change(upstream, { status });
    expect(await answer(s.recoup.upstreams.report({ upstream, success: false, block: soft }))).toBe('blocked');
    expect(await failing(s, upstream)).toEqual([status, 'blocked']);
    await s.db.advance(1);
    expect(await s.recoup.upstreams.report({ upstream, success: true })).toMatchObject({ closed: 1 });
    expect(await failing(s, upstream)).toEqual([status]);
  }
});

onEvery('after all of it the books are right', booksAreRight);
