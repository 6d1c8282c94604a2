// Read-outs of providers' windows: the newest of each is kept, and they end, prolong or contradict the blocks of just their scope.
import { expect } from 'vitest';
import type { BlockFacts, WindowFacts } from '../src/index.ts';
import { openBlocks } from './support/answers.ts';
import { blockEvents, failing, HOUR, MINUTE, poolOf, SECOND, soft, types } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();
const DAY = 24 * HOUR;
const used = (fraction: number, more: Partial<WindowFacts> = {}): WindowFacts => ({
  name: 'week',
  used: fraction,
  ...more,
});
const quota = (more: Partial<BlockFacts> = {}): BlockFacts => ({
  ...{ kind: 'quota_exhausted_upstream', policy: 'snapshot', source: 'reset_announced', forMs: 6 * DAY },
  ...more,
});
/** Blocks an upstream, and lets a while pass. */
async function blocked(s: Stage, upstream: string, block: BlockFacts, ms = MINUTE) {
  const { block: id } = await s.recoup.upstreams.report({ upstream, success: false, block });
  await s.db.advance(ms);
  return id!;
}
const one = async (s: Stage, more = {}) => (await poolOf(s, 1, more)).names[0]!;
/** Now, as the observer's machine has it. */
const note = (s: Stage, upstream: string, ...snapshots: WindowFacts[]) =>
  s.recoup.upstreams.note({ upstream, snapshots });

onEvery(
  'blocked for six days; an hour later a read-out says 12 %: closed then, selectable, with what was read',
  async (s) => {
    const { pool, names } = await poolOf(s, 1);
    await blocked(s, names[0]!, quota(), HOUR);
    expect(await note(s, names[0]!, used(0.12))).toEqual({ outcome: 'noted', closed: 1, dropped: [] });
    expect((await blockEvents(s, names[0]!)).at(-1)).toMatchObject({
      type: 'closed',
      closedAs: 'snapshot',
      reason: 'week 12.0 %',
    });
    expect((await s.recoup.upstreams.select({ pool })).upstream).toBe(names[0]);
  },
);

onEvery('still used up: the newest estimate stands, earlier or later, and the block stays', async (s) => {
  const upstream = await one(s);
  await blocked(s, upstream, quota());
  for (const ms of [2 * DAY, 5 * DAY]) {
    const resetsAt = new Date(Date.now() + ms);
    expect(await note(s, upstream, used(1, { resetsAt }))).toMatchObject({ outcome: 'noted', closed: 0 });
    const [block] = await openBlocks(s, upstream);
    expect(Math.abs(block!.until!.getTime() - (await s.db.now()).getTime() - ms)).toBeLessThan(SECOND);
    await s.db.advance(SECOND);
  }
  expect(await types(s, upstream)).toEqual(['opened', 'extended', 'extended']);
  // Half open, and a read-out says that it is still so: the next step.
  await s.db.advance(6 * DAY);
  await note(s, upstream, used(1, { resetsAt: new Date(Date.now() + DAY) }));
  expect(await openBlocks(s, upstream)).toMatchObject([{ step: 2 }]);
  expect(await failing(s, upstream)).toEqual(['blocked']);
});

onEvery('an observation that began before the block opened changes nothing of it, later ones do', async (s) => {
  const upstream = await one(s);
  const startedAt = await s.db.now();
  await s.db.advance(SECOND);
  await blocked(s, upstream, quota());
  const snapshots = [used(0)];
  expect(await s.recoup.upstreams.note({ upstream, snapshots, startedAt })).toMatchObject({
    outcome: 'noted',
    closed: 0,
  });
  expect(await s.recoup.upstreams.note({ upstream, snapshots, elapsedMs: 2 * MINUTE })).toMatchObject({ closed: 0 });
  expect(await failing(s, upstream)).toEqual(['blocked']);
  expect(await s.recoup.upstreams.note({ upstream, snapshots, elapsedMs: SECOND })).toMatchObject({ closed: 1 });
});

onEvery('a snapshot never goes back in time: 94 %, 95 %, then one that is older', async (s) => {
  const upstream = await one(s);
  await s.stopClock();
  const at = (ms: number) => new Date(Date.now() - ms);
  const known = async () => (await s.recoup.upstreams.snapshots(upstream)).map((window) => window.used);
  const read = (fraction: number, ago: number) =>
    s.recoup.upstreams.note({ upstream, snapshots: [used(fraction)], observedAt: at(ago) });
  await read(0.94, 60_000);
  await read(0.95, 30_000);
  expect(await known()).toEqual([0.95]);
  expect(await read(0.1, 45_000)).toMatchObject({ outcome: 'duplicate', closed: 0 });
  expect(await known()).toEqual([0.95]);
  // Nor does an older one end a block that the newer one speaks for.
  await s.recoup.upstreams.report({ upstream, success: false, elapsedMs: 3 * MINUTE, block: quota() });
  expect(await read(0.2, 40_000)).toMatchObject({ outcome: 'duplicate', closed: 0 });
  expect(await failing(s, upstream)).toEqual(['blocked']);
});

onEvery(
  'no traffic: at its announced reset it is half open; a trial that succeeds opens it, without any snapshot',
  async (s) => {
    const { pool, names } = await poolOf(s, 1);
    await blocked(s, names[0]!, quota({ forMs: 3 * HOUR }), 3 * HOUR - 1);
    expect((await s.recoup.upstreams.select({ pool })).outcome).toBe('none');
    await s.db.advance(2);
    const { lease } = await s.recoup.upstreams.select({ pool });
    expect((await s.recoup.upstreams.select({ pool })).outcome).toBe('none');
    await s.recoup.upstreams.report({ upstream: names[0]!, lease: lease!, success: true });
    expect(await types(s, names[0]!)).toEqual(['opened', 'trial']);
    for (const _ of [2, 4, 8]) {
      await s.db.advance(1);
      await s.recoup.upstreams.report({ upstream: names[0]!, success: true });
    }
    expect(await types(s, names[0]!)).toEqual(['opened', 'trial', 'trial', 'trial', 'closed']);
    expect(await failing(s, names[0]!)).toEqual([]);
  },
);

onEvery('a success alone never ends a used-up quota before its time', async (s) => {
  const upstream = await one(s);
  await blocked(s, upstream, quota());
  expect(await s.recoup.upstreams.report({ upstream, success: true })).toMatchObject({ closed: 0 });
  expect(await failing(s, upstream)).toEqual(['blocked']);
});

onEvery(
  'of several windows all have to be free: one that is known to be used up holds it, until its reset',
  async (s) => {
    const upstream = await one(s);
    await note(s, upstream, used(1, { resetsAt: new Date(Date.now() + 5 * DAY) }));
    await blocked(s, upstream, quota());
    const hours = { name: 'hours', used: 0.3 };
    expect(await note(s, upstream, hours)).toMatchObject({ closed: 0 });
    expect(await note(s, upstream, hours, used(1, { resetsAt: new Date(Date.now() + 5 * DAY) }))).toMatchObject({
      closed: 0,
    });
    await s.db.advance(1);
    expect(await note(s, upstream, used(0.1))).toMatchObject({ closed: 1 });
    // Its reset is past: what was read before is not so any more.
    await note(s, upstream, used(1, { resetsAt: new Date(Date.now() + HOUR) }));
    await blocked(s, upstream, quota(), 2 * HOUR);
    expect(await note(s, upstream, hours)).toMatchObject({ closed: 1 });
  },
);

onEvery('windows speak about their own scope alone: a model’s of that model, the group’s of the group', async (s) => {
  const group = newId('project');
  const [upstream, sibling] = [await one(s, { quotaGroup: group }), await one(s, { quotaGroup: group })];
  await blocked(s, upstream, quota({ scope: 'model:opus' }));
  await blocked(s, upstream, quota({ subject: 'quota_group' }));
  const open = async () => (await openBlocks(s, upstream)).map(({ subject, scope }) => `${subject} ${scope}`.trim());
  await note(s, upstream, used(0));
  await note(
    s,
    upstream,
    used(0, { scope: 'model:haiku' }),
    used(0, { name: 'x', scope: { kind: 'model', name: null } }),
  );
  expect(await open()).toEqual(['upstream model:opus', 'quota_group']);
  await note(s, upstream, used(0, { scope: { kind: 'model', name: 'opus' } }));
  expect(await open()).toEqual(['quota_group']);
  await s.recoup.upstreams.note({ upstream: sibling, subject: 'quota_group', snapshots: [used(0.5)] });
  expect(await open()).toEqual([]);
  const known = await s.recoup.upstreams.snapshots(sibling);
  expect(known).toMatchObject([{ subject: `quota_group:${group}`, name: 'week', used: 0.5, exhausted: false }]);
});

onEvery('what is ended by time and success stays with it: a snapshot ends no other policy', async (s) => {
  const upstream = await one(s);
  await blocked(s, upstream, { ...soft, forMs: HOUR });
  expect(await note(s, upstream, used(0))).toMatchObject({ outcome: 'noted', closed: 0 });
  expect(await failing(s, upstream)).toEqual(['blocked']);
});

onEvery('a usage page by its answer: decoded by the provider, no use, nothing is opened or doubled', async (s) => {
  const upstream = newId('upstream');
  await s.recoup.upstreams.register({ upstream, pool: newId('pool'), provider: 'anthropic' });
  await blocked(s, upstream, quota());
  const usage = (utilization: number) => ({
    status: 200,
    body: { five_hour: { utilization }, seven_day: { utilization: 4 } },
  });
  await s.recoup.upstreams.note({ upstream, answer: { status: 429 } });
  await s.recoup.upstreams.note({ upstream, answer: usage(100) });
  expect(await types(s, upstream)).toEqual(['opened']);
  expect(await s.recoup.upstreams.note({ upstream, answer: usage(3) })).toMatchObject({ outcome: 'noted', closed: 1 });
  expect((await s.recoup.upstreams.snapshots(upstream)).map(({ name, used: part }) => [name, part])).toEqual([
    ['five_hour', 0.03],
    ['seven_day', 0.04],
  ]);
});

onFirst('what no read-out can be is refused with its field', async (s) => {
  const upstream = await one(s);
  const wrong: [object, string][] = [
    [{}, 'snapshots'],
    [{ snapshots: [], answer: { status: 200 } }, 'snapshots'],
    [{ snapshots: 5 }, 'snapshots'],
    [{ snapshots: [{}] }, 'snapshots[0].name'],
    [{ snapshots: [used(0), used(-1)] }, 'snapshots[1].used'],
    [{ snapshots: [used(Number.NaN)] }, 'snapshots[0].used'],
    [{ snapshots: [used(0, { scope: 'opus' })] }, 'snapshots[0].scope'],
    [{ snapshots: [{ ...used(0), kind: 'hourly' }] }, 'snapshots[0].kind'],
    [{ snapshots: [{ ...used(0), resets: 1 }] }, 'snapshots[0].resets'],
    [{ snapshots: [used(0)], observedAt: 5 }, 'observedAt'],
    [{ answer: { status: 200 }, observedAt: new Date() }, 'observedAt'],
    [{ snapshots: [used(0)], subject: 'provider' }, 'subject'],
  ];
  for (const [more, field] of wrong) {
    const refused = await s.recoup.upstreams.note({ upstream, ...more } as never).catch((error: unknown) => error);
    expect([more, refused]).toMatchObject([more, { code: 'invalid', details: { field } }]);
  }
  await expect(note(s, newId('nobody'), used(0))).rejects.toMatchObject({ code: 'no_upstream' });
  expect(await s.recoup.upstreams.snapshots(upstream)).toEqual([]);
});

onEvery('the books are right', booksAreRight);
