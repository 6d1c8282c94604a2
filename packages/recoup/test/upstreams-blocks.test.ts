// Blocks of upstreams: they open, grow and close by evidence, each thing that happens once and in the history.
import { expect } from 'vitest';
import { tally, times } from './support/look.ts';
import { blockEvents, failing, MINUTE, ms, now, poolOf, SECOND, soft, types, use } from './support/pools.ts';
import { newId, staging } from './support/stage.ts';

const { onEvery } = staging();

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
  expect(await blockEvents(s, names[0]!)).toEqual([]);
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
