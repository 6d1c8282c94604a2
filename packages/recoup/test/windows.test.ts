// Limits in the life of an upstream: what is used up is passed over, comes back by itself, and is reset by hand.
import { expect } from 'vitest';
import { book, daily, limited, look, used, windows } from './support/limits.ts';
import { answer } from './support/look.ts';
import { failing, MINUTE, ms, poolOf, soft, use } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const HOUR = 60 * MINUTE;
const outcome = async (s: Stage, pool: string) => (await use(s, pool)).outcome;

onEvery('a use before midnight is of the old day, one at midnight of the new one; no sweep has to run', async (s) => {
  await s.db.setClock('2026-03-10T15:59:59Z');
  const { pool, upstream, limit } = await limited(s, 2, { kind: 'daily', zone: 'Asia/Shanghai' });
  expect([await book(s, upstream), await outcome(s, pool), await book(s, upstream)]).toEqual([
    'booked',
    'selected',
    'booked',
  ]);
  expect(await outcome(s, pool)).toBe('none');
  expect(await failing(s, upstream)).toEqual(['quota']);
  await s.db.setClock('2026-03-10T16:00:00Z');
  expect([await outcome(s, pool), await used(s, limit)]).toEqual(['selected', 0]);
  await book(s, upstream);
  expect(await windows(s, limit)).toEqual([
    '2026-03-09T16:00:00.000Z 2026-03-10T16:00:00.000Z 2 use',
    '2026-03-10T16:00:00.000Z 2026-03-11T16:00:00.000Z 1 use',
  ]);
});

onEvery('explain says the limit, its unit, what is used and when it is back, also for what is shared', async (s) => {
  const { pool, names } = await poolOf(s, 2, { quotaGroup: 'team', route: 'proxy' });
  const [upstream] = names as [string];
  await s.db.setClock('2026-06-01T10:00:00Z');
  const subjects = { upstream, quotaGroup: 'team', provider: pool, route: 'proxy' };
  for (const [field, id] of Object.entries(subjects))
    await s.recoup.upstreams.limits.set({
      limit: `${pool} ${field}`,
      [field]: id,
      unit: 'tokens',
      amount: 500,
      ...daily,
    });
  const { use: booked } = await s.recoup.upstreams.report({
    upstream,
    success: true,
    key: newId('key'),
    use: { tokens: 499 },
  });
  expect([booked, await failing(s, upstream)]).toEqual(['booked', []]);
  await s.recoup.upstreams.report({ upstream, success: true, key: newId('key'), use: { tokens: 2 } });
  const [own, other] = await s.recoup.upstreams.explain({ pool });
  const rows = (one: typeof own) =>
    one!.failing.map(({ check, limit, subject, unit, used: n, amount, until }) => [
      check,
      limit,
      subject,
      unit,
      n,
      amount,
      ms(until),
    ]);
  const row = (field: string, subject: string) => [
    'quota',
    `${pool} ${field}`,
    subject,
    'tokens',
    501,
    500,
    Date.UTC(2026, 5, 2),
  ];
  const shared = [
    row('provider', `provider:${pool}`),
    row('quotaGroup', 'quota_group:team'),
    row('route', 'route:proxy'),
  ];
  expect(rows(own)).toEqual([...shared, row('upstream', `upstream:${upstream}`)]);
  expect(rows(other)).toEqual(shared);
  expect(own!.failing[0]!.nextStep).toMatch(/reset it/);
  expect(ms(own!.expectedRecoveryAt)).toBe(Date.UTC(2026, 5, 2));
  const none = await use(s, pool);
  expect([none.outcome, none.retryAfterMs, ms(none.expectedRecoveryAt)]).toEqual([
    'none',
    300_000,
    Date.UTC(2026, 5, 2),
  ]);
  expect((await s.recoup.upstreams.limits.list({ upstream: names[1]! })).map(({ limit }) => limit)).toEqual(
    shared.map(([, limit]) => limit),
  );
  // A block that lasts longer decides when it is back.
  await s.recoup.upstreams.report({ upstream, success: false, block: { ...soft, forMs: 48 * HOUR } });
  expect(ms((await s.recoup.upstreams.explain({ upstream }))[0]!.expectedRecoveryAt)).toBe(Date.UTC(2026, 5, 3, 10));
  for (const field of Object.keys(subjects)) await s.recoup.upstreams.limits.end(`${pool} ${field}`);
  expect(await failing(s, upstream)).toEqual(['blocked']);
});

onEvery('a limit of a model counts and keeps out what is for that model alone', async (s) => {
  const { pool, names } = await poolOf(s, 1);
  const limits = { limit: newId('limit'), upstream: names[0]!, scope: 'model:big', unit: 'requests', amount: 1 };
  await s.recoup.upstreams.limits.set({ ...limits, ...daily });
  const report = (model?: string) =>
    s.recoup.upstreams.report({ upstream: names[0]!, success: true, key: newId('key'), ...(model && { model }) });
  expect([(await report('small')).use, (await report()).use, (await report('big')).use]).toEqual([
    'none',
    'none',
    'booked',
  ]);
  expect(await failing(s, names[0]!, 'big')).toEqual(['quota']);
  expect(await failing(s, names[0]!, 'small')).toEqual([]);
  expect((await s.recoup.upstreams.select({ pool, model: 'big' })).outcome).toBe('none');
  expect((await s.recoup.upstreams.select({ pool, model: 'small' })).outcome).toBe('selected');
});

onEvery('a use is booked once per lease, key or attempt of a job; one request unless it says how many', async (s) => {
  const { pool, upstream, limit } = await limited(s, 1000);
  const { lease } = await use(s, pool);
  const job = { wallet: 'w', job: 'j', attempt: 1 };
  const by: [object, object | undefined, number][] = [
    [{ lease }, undefined, 1],
    [{ key: newId('key') }, { requests: 5 }, 5],
    [{ job }, { tokens: 7 }, 1],
    [{ job: { ...job, attempt: 2 } }, { requests: 3, tokens: 7 }, 3],
    [{ key: newId('key') }, { requests: 0 }, 0],
  ];
  let sum = 0;
  for (const [key, amounts, counted] of by) {
    const report = () =>
      s.recoup.upstreams.report({
        upstream,
        success: false,
        ...key,
        ...(amounts && { use: amounts as { requests: number } }),
      });
    const told = [(await report()).use, (await report()).use];
    expect(told).toEqual(counted === 0 ? [null, null] : ['booked', 'duplicate']);
    sum += counted;
    expect(await used(s, limit)).toBe(sum);
  }
  // Nothing tells it from its repeat: not booked, and refused where it says what was used.
  expect((await s.recoup.upstreams.report({ upstream, success: true })).use).toBe(null);
  const nothing = s.recoup.upstreams.report({ upstream, success: true, use: { requests: 1 } });
  expect(await answer(nothing)).toBe('invalid');
  expect(await used(s, limit)).toBe(sum);
});

onEvery('a slot that is given back has used nothing, unless it says so; once, also beside a report', async (s) => {
  const { pool, upstream, limit } = await limited(s, 1000);
  const [one, two] = [(await use(s, pool)).lease!, (await use(s, pool)).lease!];
  await s.recoup.upstreams.release(one);
  expect(await used(s, limit)).toBe(0);
  expect(await s.recoup.upstreams.release(two, { use: { requests: 4 } })).toEqual({ outcome: 'released' });
  expect(await s.recoup.upstreams.release(two, { use: { requests: 4 } })).toEqual({ outcome: 'duplicate' });
  await s.recoup.upstreams.report({ upstream, lease: two, success: true });
  expect(await used(s, limit)).toBe(4);
});

onEvery('a use is booked whatever becomes of its report', async (s) => {
  const { upstream, limit } = await limited(s, 1000);
  await s.recoup.upstreams.report({ upstream, success: false, key: newId('key'), block: soft });
  await s.recoup.upstreams.report({ upstream, success: false, key: newId('key'), elapsedMs: 1000, block: soft });
  expect(await used(s, limit)).toBe(2);
  expect(await answer(s.recoup.upstreams.report({ upstream: 'nobody', success: true, key: newId('key') }))).toBe(
    'no_upstream',
  );
});

onEvery(
  'a reset by hand: nothing is used, the next window begins when it would have, and the history has who and why',
  async (s) => {
    await s.db.setClock('2026-05-05T15:00:00Z');
    const { pool, upstream, limit } = await limited(s, 3);
    expect(await s.recoup.upstreams.limits.reset(limit)).toEqual({ outcome: 'duplicate' });
    await book(s, upstream, 3);
    expect(await outcome(s, pool)).toBe('none');
    const seen = (await look(s, limit)).windowStart!;
    expect(await s.recoup.upstreams.limits.reset(limit, { window: new Date(seen.getTime() - 1) })).toEqual({
      outcome: 'duplicate',
    });
    const by = { window: seen, actor: 'ann', reason: 'the provider gave more' };
    expect(await s.recoup.upstreams.limits.reset(limit, by)).toEqual({ outcome: 'reset' });
    expect(await s.recoup.upstreams.limits.reset(limit, by)).toEqual({ outcome: 'duplicate' });
    expect([await used(s, limit), await outcome(s, pool)]).toEqual([0, 'selected']);
    const [row] = await s.recoup.upstreams.limits.windows(limit);
    expect(row).toMatchObject({ begunBy: 'reset', actor: 'ann', reason: 'the provider gave more', used: 0 });
    expect(ms(row!.end)).toBe(Date.UTC(2026, 4, 6));
    // At the same instant, and behind what is booked there.
    await book(s, upstream, 2);
    expect([await s.recoup.upstreams.limits.reset(limit), await used(s, limit)]).toEqual([{ outcome: 'reset' }, 0]);
    await book(s, upstream, 1);
    await s.db.setClock('2026-05-06T00:00:00Z');
    expect(await used(s, limit)).toBe(0);
    await s.recoup.sweep();
    expect((await windows(s, limit)).map((line) => line.split(' ').slice(2).join(' '))).toEqual([
      '3 use',
      '2 reset',
      '1 reset',
      '0 roll',
    ]);
    expect((await windows(s, limit)).at(-1)).toMatch(/^2026-05-06T00:00:00.000Z 2026-05-07T00:00:00.000Z /);
  },
);

onEvery('what is shared is used up for all that share it; another provider goes on', async (s) => {
  const [one, other] = [await poolOf(s, 3), await poolOf(s, 1)];
  await s.recoup.upstreams.limits.set({
    limit: newId('limit'),
    provider: one.pool,
    unit: 'requests',
    amount: 3,
    ...daily,
  });
  for (const upstream of [...one.names, ...other.names]) await book(s, upstream);
  expect(await Promise.all([...one.names, ...other.names].map((name) => failing(s, name)))).toEqual([
    ['quota'],
    ['quota'],
    ['quota'],
    [],
  ]);
});

onEvery('after all of it the books are right', booksAreRight);
