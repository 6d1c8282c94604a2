// Probes: what waits for an answer, what an answer does by policy and source, what it costs, what it bought.
import { expect } from 'vitest';
import type { BlockFacts } from '../src/index.ts';
import { blockEvents, failing, HOUR, MINUTE, ms, poolOf, SECOND, soft, types, use } from './support/pools.ts';
import { probedPool } from './support/probing.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const announced: BlockFacts = { kind: 'quota_exhausted_upstream', policy: 'snapshot', forMs: 5 * 24 * HOUR };
const ordered: BlockFacts = { kind: 'rate_limited', policy: 'auto', source: 'retry_after', forMs: 30 * MINUTE };

const fails = (s: Stage, upstream: string, block: BlockFacts = soft) =>
  s.recoup.upstreams.report({ upstream, success: false, block });
const openBlock = async (s: Stage, upstream: string) =>
  (await s.recoup.upstreams.blocks({ limit: 1000 })).blocks.find(({ subject }) => subject === `upstream:${upstream}`);

onEvery('a block whose time is up waits for the answer; a yes lets one trial in, then two, four, eight', async (s) => {
  const { pool, names, asker, asked, told } = await probedPool(s, 1);
  await fails(s, names[0]!);
  await s.db.advance(30 * SECOND);
  expect(await failing(s, names[0]!)).toEqual(['gated']);
  expect(await use(s, pool)).toMatchObject({ outcome: 'none' });
  expect(await openBlock(s, names[0]!)).toMatchObject({ halfOpen: false });
  expect(await asker.probes.ask()).toEqual({ asked: 1, yes: 1, no: 0, unavailable: 0, ignored: 0 });
  expect(asked).toMatchObject([{ upstream: names[0], pool, kind: 'due', model: null }]);
  await s.db.advance(10);
  for (const trials of [1, 2, 4, 8]) {
    const leases = [];
    for (let i = 0; i <= trials; i++) leases.push(await use(s, pool));
    expect(leases.filter(({ outcome }) => outcome === 'selected')).toHaveLength(trials);
    await s.db.advance(10);
    const [first, ...others] = leases.filter(({ lease }) => lease !== null);
    await s.recoup.upstreams.report({ upstream: names[0]!, lease: first!.lease!, success: true });
    for (const { lease } of others) await s.recoup.upstreams.release(lease!);
    await s.db.advance(10);
  }
  expect(await types(s, names[0]!)).toEqual(['opened', 'trial', 'trial', 'trial', 'trial', 'closed']);
  expect((await blockEvents(s, names[0]!))[1]).toMatchObject({ actor: 'probe', reason: expect.stringMatching(/yes$/) });
  expect(told).toEqual(['probe_confirmed auto']);
});

onEvery('a no opens it again for longer each time, up to the cap; nobody was let in between', async (s) => {
  const { pool, names, asker, hand, told } = await probedPool(s, 1);
  hand.said = { result: 'no', reason: '429 still' };
  await fails(s, names[0]!);
  const waits: number[] = [];
  for (let i = 0; i < 6; i++) {
    const block = await openBlock(s, names[0]!);
    await s.db.advance(ms(block!.until) - (await s.db.now()).getTime());
    const now = await s.db.now();
    expect(await use(s, pool)).toMatchObject({ outcome: 'none' });
    expect(await asker.probes.ask()).toMatchObject({ asked: 1, no: 1 });
    expect(await use(s, pool)).toMatchObject({ outcome: 'none' });
    waits.push(Math.round((ms((await openBlock(s, names[0]!))!.until) - now.getTime()) / SECOND));
  }
  expect(waits).toEqual([60, 120, 240, 300, 300, 300]);
  expect(await types(s, names[0]!)).toEqual(['opened', ...waits.map(() => 'reopened')]);
  expect(told).toEqual(waits.map(() => 'probe_negative auto'));
});

onEvery('a no with the provider’s order to wait lasts as long as that, an hour at most', async (s) => {
  const { names, asker, hand } = await probedPool(s, 2);
  for (const [i, forMs, waits] of [
    [0, 10 * MINUTE, 10 * MINUTE],
    [1, 20 * 24 * HOUR, HOUR],
  ] as const) {
    hand.said = { result: 'no', forMs };
    await fails(s, names[i]!);
    await s.db.advance(31 * SECOND);
    const now = await s.db.now();
    await asker.probes.ask();
    expect(Math.abs(ms((await openBlock(s, names[i]!))!.until) - now.getTime() - waits)).toBeLessThan(SECOND);
  }
});

onEvery('what could not be asked: due, it lets a trial in; early, it stays; manual, it stays', async (s) => {
  const { pool, names, asker, hand, told } = await probedPool(s, 3);
  hand.said = () => Promise.reject(new Error('no such host'));
  await fails(s, names[0]!);
  await fails(s, names[1]!, announced);
  await fails(s, names[2]!, { kind: 'billing', policy: 'manual' });
  await s.db.advance(15 * MINUTE);
  await fails(s, names[0]!);
  await s.db.advance(70 * SECOND);
  expect(await asker.probes.ask()).toMatchObject({ asked: 2, unavailable: 2 });
  expect(await failing(s, names[0]!)).toEqual([]);
  expect(await failing(s, names[1]!)).toEqual(['blocked']);
  expect(await failing(s, names[2]!)).toEqual(['blocked']);
  await s.recoup.probes.recheck({ pool, policy: 'manual', confirm: 1, actor: 'ann', withinMs: 0 });
  expect(await asker.probes.ask()).toMatchObject({ asked: 1, unavailable: 1 });
  expect(await failing(s, names[2]!)).toEqual(['blocked']);
  expect(told.sort()).toEqual([
    ...['probe_unavailable auto', 'probe_unavailable manual', 'probe_unavailable snapshot', 'skipped manual'],
  ]);
  const { probes } = await s.recoup.probes.list({ upstream: names[0]! });
  expect(probes).toMatchObject([{ result: 'unavailable', outcome: 'unavailable', reason: 'no such host' }]);
});

onEvery('an announced reset is asked about early, an order to wait never; a yes ends the first at once', async (s) => {
  const { names, asker, asked } = await probedPool(s, 1);
  await fails(s, names[0]!, announced);
  await fails(s, names[0]!, ordered);
  await s.db.advance(14 * MINUTE);
  expect(await asker.probes.ask()).toMatchObject({ asked: 0 });
  await s.db.advance(2 * MINUTE);
  expect(await asker.probes.ask()).toMatchObject({ asked: 1, yes: 1 });
  expect(asked.map(({ kind }) => kind)).toEqual(['early']);
  expect(await failing(s, names[0]!)).toEqual(['blocked']);
  await s.db.advance(14 * MINUTE + 10 * SECOND);
  expect(await asker.probes.ask()).toMatchObject({ asked: 1, yes: 1 });
  expect(await failing(s, names[0]!)).toEqual([]);
  const closed = (await blockEvents(s, names[0]!)).filter(({ type }) => type === 'closed');
  expect(closed).toMatchObject([{ source: 'reset_announced', closedAs: 'probe' }]);
});

onEvery(
  'an early no leaves it out, with the reset that is announced now, and is asked again after a while',
  async (s) => {
    const { names, asker, hand } = await probedPool(s, 1, { everyMs: 5 * MINUTE });
    await fails(s, names[0]!, announced);
    hand.said = 'no';
    await s.db.advance(6 * MINUTE);
    const before = await openBlock(s, names[0]!);
    expect(await asker.probes.ask()).toMatchObject({ asked: 1, no: 1 });
    expect(await openBlock(s, names[0]!)).toMatchObject({ until: before!.until, step: 1 });
    hand.said = { result: 'no', forMs: HOUR };
    await s.db.advance(6 * MINUTE);
    expect(await asker.probes.ask()).toMatchObject({ asked: 1, no: 1 });
    const now = (await s.db.now()).getTime();
    expect(Math.abs(ms((await openBlock(s, names[0]!))!.until) - now - HOUR)).toBeLessThan(SECOND);
    expect(await types(s, names[0]!)).toEqual(['opened', 'probed', 'extended']);
  },
);

onEvery(
  'a replica without the prober neither frees early nor strands: when the grace is over, one trial',
  async (s) => {
    const { pool, names } = await probedPool(s, 1, { graceMs: 20 * SECOND });
    await fails(s, names[0]!);
    await s.db.advance(49 * SECOND);
    expect(await use(s, pool)).toMatchObject({ outcome: 'none' });
    const [explained] = await s.recoup.upstreams.explain({ upstream: names[0]! });
    expect(explained!.failing).toMatchObject([{ check: 'gated' }]);
    expect(ms(explained!.expectedRecoveryAt)).toBe(ms(explained!.failing[0]!.until));
    expect(await s.recoup.probes.ask()).toMatchObject({ asked: 0 });
    await s.db.advance(2 * SECOND);
    expect(await use(s, pool)).toMatchObject({ outcome: 'selected' });
    expect(await use(s, pool)).toMatchObject({ outcome: 'none' });
  },
);

onEvery('where the pool has no prober, or its prober was removed, nothing waits', async (s) => {
  const { pool, names } = await poolOf(s, 1);
  await s.recoup.probes.set({ pool });
  expect(await s.recoup.probes.remove(pool)).toEqual({ outcome: 'removed' });
  expect(await s.recoup.probes.remove(pool)).toEqual({ outcome: 'duplicate' });
  await fails(s, names[0]!);
  await s.db.advance(31 * SECOND);
  expect(await use(s, pool)).toMatchObject({ outcome: 'selected' });
});

onEvery('when a prober is removed no check is due any more, and nothing may be asked again', async (s) => {
  const { pool, names } = await probedPool(s, 2);
  for (const name of names) await fails(s, name, announced);
  expect(await s.recoup.probes.preview({ pool })).toEqual({ count: 2, left: 0 });
  expect((await openBlock(s, names[0]!))!.nextCheckAt).not.toBeNull();
  await s.recoup.probes.remove(pool);
  for (const name of names) expect(await openBlock(s, name)).toMatchObject({ nextCheckAt: null });
  expect(await s.recoup.probes.preview({ pool })).toEqual({ count: 0, left: 2 });
});

onEvery('a manual block is asked where another credential came, or a person wants it; a yes ends it so', async (s) => {
  const { pool, names, asker, asked } = await probedPool(s, 3);
  for (const name of names) await fails(s, name, { kind: 'billing', policy: 'manual' });
  await s.recoup.upstreams.block(names[2]!, { reason: 'maintenance', actor: 'ann' });
  await s.db.advance(16 * MINUTE);
  expect(await asker.probes.ask()).toMatchObject({ asked: 0 });
  await s.recoup.upstreams.replaceCredential(names[0]!, { credentialRef: 'vault/new' });
  await s.db.advance(15 * MINUTE);
  expect(await asker.probes.ask()).toMatchObject({ asked: 1, yes: 1 });
  expect(await failing(s, names[0]!)).toEqual([]);
  expect(await s.recoup.probes.preview({ pool })).toEqual({ count: 2, left: 1 });
  await expect(s.recoup.probes.recheck({ pool, confirm: 3, actor: 'ann' })).rejects.toMatchObject({
    code: 'count_changed',
  });
  await s.recoup.probes.recheck({ pool, confirm: 2, actor: 'bob', withinMs: 0 });
  expect(await asker.probes.ask()).toMatchObject({ asked: 2, yes: 2 });
  expect(await failing(s, names[1]!)).toEqual([]);
  // What a person has decided is no question to the provider.
  expect(await failing(s, names[2]!)).toEqual(['blocked']);
  expect(asked.map(({ kind }) => kind)).toEqual(['early', 'asked', 'asked']);
  const ends = (await Promise.all(names.map((name) => blockEvents(s, name)))).flat();
  expect(ends.filter(({ type }) => type === 'closed').map(({ closedAs, actor }) => [closedAs, actor])).toEqual([
    ['credential', 'probe'],
    ['operator', 'bob'],
    ['operator', 'bob'],
  ]);
});

onEvery(
  'what a probe uses is booked on the limits of its upstream, once; a limit that is used up is not asked',
  async (s) => {
    const { names, asker, hand } = await probedPool(s, 1, { cost: { tokens: 20 } });
    const limit = `${names[0]}/tokens`;
    await s.recoup.upstreams.limits.set({
      limit,
      upstream: names[0]!,
      unit: 'tokens',
      amount: 30,
      kind: 'rolling',
      lengthMs: HOUR,
    });
    hand.said = 'no';
    await fails(s, names[0]!);
    await s.db.advance(31 * SECOND);
    await asker.probes.ask();
    expect(await s.recoup.upstreams.limits.list({ limit })).toMatchObject([{ used: 20 }]);
    hand.said = { result: 'no', cost: { tokens: 10 } };
    await s.db.advance(61 * SECOND);
    await asker.probes.ask();
    expect(await s.recoup.upstreams.limits.list({ limit })).toMatchObject([{ used: 30 }]);
    await s.db.advance(121 * SECOND);
    expect(await asker.probes.ask()).toMatchObject({ asked: 0 });
  },
);

onEvery('books', booksAreRight);
