// Upstreams: blocks open, grow and close by evidence; selection passes over what is out; every slot is one hand's.
import { expect } from 'vitest';
import type { BlockFacts, Recoup } from '../src/index.ts';
import { tally, times } from './support/look.ts';
import { newId, type Stage, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const soft: BlockFacts = { kind: 'rate_limited', policy: 'auto' };

/** A pool of its own with so many upstreams. */
async function poolOf(s: Stage, count: number, more: object = {}) {
  const pool = newId('pool');
  const names = times(count, (i) => `${pool}/${i}`);
  await Promise.all(names.map((upstream) => s.recoup.upstreams.register({ upstream, pool, provider: pool, ...more })));
  return { pool, names };
}
const use = async (s: Stage, pool: string, recoup: Recoup = s.recoup) => recoup.upstreams.select({ pool });
const failing = async (s: Stage, upstream: string, model?: string) => {
  const [one] = await s.recoup.upstreams.explain({ upstream, ...(model === undefined ? {} : { model }) });
  return one!.failing.map((check) => check.check);
};
const types = async (s: Stage, upstream: string) =>
  (await s.recoup.upstreams.history(upstream)).map(({ type }) => type);
const ms = (date: Date | null) => date!.getTime();

onEvery(
  '429 without a hint, each time the trial fails: 30, 60, 120, 240, 300, 300 seconds, and one trial at a time',
  async (s) => {
    const { pool, names } = await poolOf(s, 1);
    for (const [step, seconds] of [30, 60, 120, 240, 300, 300].entries()) {
      const { lease } = await use(s, pool);
      expect(lease).not.toBeNull();
      const before = Date.parse(await now(s));
      const reported = await s.recoup.upstreams.report({
        upstream: names[0]!,
        lease: lease!,
        success: false,
        block: soft,
      });
      expect(reported).toMatchObject({ outcome: step === 0 ? 'blocked' : 'reopened', step: step + 1 });
      expect(Math.round((ms(reported.until) - before) / SECOND)).toBe(seconds);
      expect((await use(s, pool)).outcome).toBe('none');
      await s.db.advance(seconds * SECOND + 1000);
      // By the predicate itself: nothing has swept.
      expect(await failing(s, names[0]!)).toEqual([]);
    }
    expect(await types(s, names[0]!)).toEqual(['opened', ...times(5, () => 'reopened')]);
  },
);

onEvery('five requests are in flight when the first 429 comes: the other four are one step with it', async (s) => {
  const { pool, names } = await poolOf(s, 1);
  const leases = await Promise.all(times(5, () => use(s, pool)));
  const reports = [];
  for (const { lease } of leases)
    reports.push(await s.recoup.upstreams.report({ upstream: names[0]!, lease: lease!, success: false, block: soft }));
  expect(reports.map(({ outcome }) => outcome)).toEqual(['blocked', ...times(4, () => 'duplicate')]);
  expect(new Set(reports.map(({ step }) => step))).toEqual(new Set([1]));
  expect(await types(s, names[0]!)).toEqual(['opened']);
});

onEvery(
  'a request that started before the block and succeeds after it closes nothing; one that started later does',
  async (s) => {
    const { pool, names } = await poolOf(s, 1);
    const [early, other] = [await use(s, pool), await use(s, pool)];
    await s.recoup.upstreams.report({ upstream: names[0]!, lease: other.lease!, success: false, block: soft });
    expect(await s.recoup.upstreams.report({ upstream: names[0]!, lease: early.lease!, success: true })).toMatchObject({
      closed: 0,
    });
    expect(await failing(s, names[0]!)).toEqual(['blocked']);
    await s.db.advance(1);
    expect(await s.recoup.upstreams.report({ upstream: names[0]!, success: true })).toMatchObject({ closed: 1 });
    expect(await failing(s, names[0]!)).toEqual([]);
    expect((await s.recoup.upstreams.history(names[0]!)).at(-1)).toMatchObject({ type: 'closed', closedAs: 'success' });
  },
);

onEvery(
  'the same source never shortens: +60 s, then +600, then +5; an order to wait is capped at an hour',
  async (s) => {
    const { names } = await poolOf(s, 1);
    const told = async (seconds: number) => {
      await s.db.advance(1);
      const block = { ...soft, source: 'retry_after', forMs: seconds * SECOND } as const;
      return s.recoup.upstreams.report({ upstream: names[0]!, success: false, block });
    };
    const opened = await told(60);
    const later = await told(600);
    expect(Math.round((ms(later.until) - ms(opened.until)) / SECOND)).toBe(540);
    expect(await told(5)).toMatchObject({ outcome: 'duplicate', until: later.until });
    const capped = await told(1_587_827);
    expect(ms(capped.until) - Date.parse(await now(s))).toBeLessThanOrEqual(3_600_000);
  },
);

onEvery('of announced resets the newest counts, also an earlier one', async (s) => {
  const { names } = await poolOf(s, 1);
  const start = Date.parse(await now(s));
  const announced = async (minutes: number) => {
    await s.db.advance(1);
    const block = {
      kind: 'quota_exhausted_upstream',
      policy: 'snapshot',
      until: new Date(start + minutes * MINUTE),
    } as const;
    return s.recoup.upstreams.report({ upstream: names[0]!, success: false, block });
  };
  await announced(600);
  expect(await announced(60)).toMatchObject({ outcome: 'extended', until: new Date(start + 60 * MINUTE) });
  // Another source beside it is another block: it is back when both are over.
  const block = { ...soft, source: 'retry_after', forMs: 30 * MINUTE } as const;
  await s.recoup.upstreams.report({ upstream: names[0]!, success: false, block });
  const [one] = await s.recoup.upstreams.explain({ upstream: names[0]! });
  expect(one!.failing).toHaveLength(2);
  expect(one!.expectedRecoveryAt).toEqual(new Date(start + 60 * MINUTE));
});

onEvery('neither time nor a success ends a manual block; a person does, and the history says who', async (s) => {
  const { pool, names } = await poolOf(s, 1);
  const { block } = await s.recoup.upstreams.report({
    upstream: names[0]!,
    success: false,
    block: { kind: 'auth_revoked', policy: 'manual', reason: 'token_revoked', nextStep: 'log in again' },
  });
  await s.db.advance(30 * 24 * 60 * MINUTE);
  await s.recoup.upstreams.report({ upstream: names[0]!, success: true });
  const [one] = await s.recoup.upstreams.explain({ upstream: names[0]! });
  expect(one).toMatchObject({
    usable: false,
    expectedRecoveryAt: null,
    failing: [{ check: 'blocked', nextStep: 'log in again' }],
  });
  expect(await use(s, pool)).toMatchObject({ outcome: 'none', retryAfterMs: 300_000, expectedRecoveryAt: null });
  expect(await s.recoup.upstreams.free(block!, { generation: 7, actor: 'eve' })).toEqual({ outcome: 'duplicate' });
  expect(await s.recoup.upstreams.free(block!, { generation: 1, actor: 'ann', as: 'credential' })).toEqual({
    outcome: 'closed',
  });
  expect(await s.recoup.upstreams.free(block!, { actor: 'bob' })).toEqual({ outcome: 'duplicate' });
  expect((await use(s, pool)).upstream).toBe(names[0]);
  expect((await s.recoup.upstreams.history(names[0]!)).at(-1)).toMatchObject({
    type: 'closed',
    actor: 'ann',
    closedAs: 'credential',
  });
});

onEvery('out of credits for one model: that model alone', async (s) => {
  const { pool, names } = await poolOf(s, 1);
  const block = { kind: 'billing', policy: 'manual', scope: 'model:opus' } as const;
  await s.recoup.upstreams.report({ upstream: names[0]!, success: false, model: 'opus', block });
  expect(await failing(s, names[0]!, 'opus')).toEqual(['blocked']);
  expect(await failing(s, names[0]!, 'haiku')).toEqual([]);
  expect((await s.recoup.upstreams.select({ pool, model: 'opus' })).outcome).toBe('none');
  expect((await s.recoup.upstreams.select({ pool, model: 'haiku' })).outcome).toBe('selected');
  expect((await s.recoup.upstreams.select({ pool })).outcome).toBe('selected');
});

onEvery('a request that is to blame itself blames nobody', async (s) => {
  const { names } = await poolOf(s, 1);
  expect(await s.recoup.upstreams.report({ upstream: names[0]!, success: false })).toMatchObject({
    outcome: 'noted',
    block: null,
  });
  expect(await s.recoup.upstreams.history(names[0]!)).toEqual([]);
});

onEvery(
  'a block on the group, the provider or the route is out for all that share it, and for nobody else',
  async (s) => {
    const { pool, names } = await poolOf(s, 2, { quotaGroup: newId('project') });
    const stranger = await poolOf(s, 1);
    await s.recoup.upstreams.report({
      upstream: names[0]!,
      success: false,
      block: { ...soft, subject: 'quota_group' },
    });
    expect(await Promise.all(names.map((name) => failing(s, name)))).toEqual([['blocked'], ['blocked']]);
    expect(await failing(s, stranger.names[0]!)).toEqual([]);
    await s.db.advance(31 * SECOND);
    await s.recoup.upstreams.report({
      upstream: names[1]!,
      success: false,
      block: { kind: 'overloaded', policy: 'auto', subject: 'provider' },
    });
    expect(await Promise.all(names.map((name) => failing(s, name)))).toEqual([['blocked'], ['blocked']]);
    expect((await use(s, pool)).outcome).toBe('none');
  },
);

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
      await s.recoup.upstreams.report({ upstream: names[0]!, lease: first!, success: true });
      for (const lease of others) await s.recoup.upstreams.release(lease);
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

onEvery('reports from many replicas at once about one upstream: one block, one opening, no error', async (s) => {
  const { names } = await poolOf(s, 2);
  const replicas = await Promise.all(times(4, () => s.replica()));
  const shared = { kind: 'overloaded', policy: 'auto', subject: 'provider' } as const;
  const reports = await Promise.all(
    times(100, (i) =>
      replicas[i % 4]!.upstreams.report({
        upstream: names[i % 2]!,
        success: false,
        elapsedMs: 1000,
        block: i % 3 === 0 ? shared : soft,
      }),
    ),
  );
  // One on each upstream, one on their provider: all the others were under way when it came.
  expect(tally(reports.map(({ outcome }) => outcome))).toEqual({ blocked: 3, duplicate: 97 });
});

onFirst('wrong input is refused with its field, and nothing is there that was not', async (s) => {
  const { names } = await poolOf(s, 1);
  const { upstreams } = s.recoup;
  const wrong: [Promise<unknown>, string, string][] = [
    [upstreams.register({ upstream: '', pool: 'p', provider: 'x' }), 'invalid', 'upstream'],
    [upstreams.register({ upstream: newId('u'), pool: 'p', provider: 'x', weight: 0 }), 'invalid', 'weight'],
    [upstreams.report({ upstream: names[0]!, success: true, block: soft }), 'invalid', 'block'],
    [
      upstreams.report({ upstream: names[0]!, success: false, block: { ...soft, source: 'retry_after' } }),
      'invalid',
      'block.forMs',
    ],
    [
      upstreams.report({ upstream: names[0]!, success: false, block: { ...soft, scope: 'opus' } }),
      'invalid',
      'block.scope',
    ],
    [upstreams.select({ pool: 'p', leaseMs: 1 }), 'invalid', 'leaseMs'],
  ];
  for (const [call, code, field] of wrong) await expect(call).rejects.toMatchObject({ code, details: { field } });
  await expect(upstreams.change(newId('unknown'), { weight: 2 })).rejects.toMatchObject({ code: 'no_upstream' });
  await expect(upstreams.report({ upstream: newId('unknown'), success: true })).rejects.toMatchObject({
    code: 'no_upstream',
  });
  await expect(upstreams.free(9_999_999)).rejects.toMatchObject({ code: 'no_block' });
  await expect(upstreams.register({ upstream: names[0]!, pool: 'other', provider: 'x' })).rejects.toMatchObject({
    code: 'conflict',
  });
});

async function now(s: Stage): Promise<string> {
  const [row] = await s.db.query('select recoup.clock()::text as now');
  return String(row!.now);
}
