// Until when an upstream stands apart for limits of its own, asked of the statement itself: by kind of limit, and past what others hold.
import { expect } from 'vitest';
import { ofUpstreams } from '../src/upstreams/limits.ts';
import { setApart } from '../src/upstreams/quota.ts';
import { asked, outcomes } from './support/asked.ts';
import { book, daily, limited, type Of } from './support/limits.ts';
import { HOUR, poolOf } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const rolling: Of = { kind: 'rolling', lengthMs: HOUR };
const at = (s: Stage, time: string) => s.db.setClock(`2031-07-${time}Z`);

/** Forgets until when it stands apart, and asks: until when it does then, or null. */
async function until(s: Stage, upstream: string): Promise<string | null> {
  await s.db.query('update recoup.upstreams set quota_until = null where id = $1', [upstream]);
  const [outcome] = outcomes((await asked(s, setApart, { upstream_id: upstream })) as { outcome: string }[]);
  const [row] = await s.db.query(
    `select to_char(quota_until at time zone 'UTC', 'DD"T"HH24:MI:SS') as until from recoup.upstreams where id = $1`,
    [upstream],
  );
  expect(outcome).toBe(row!.until === null ? 'same' : 'apart');
  return row!.until as string | null;
}
const set = (s: Stage, { limit, upstream }: { limit: string; upstream: string }, of: Of, more = {}) =>
  s.recoup.upstreams.limits.set({ limit, upstream, unit: 'requests', amount: 1, ...of, ...more });

onEvery('of what rolls: until enough of its own has fallen out', async (s) => {
  await at(s, '01T12:00:00');
  const [one, other] = [await limited(s, 2, rolling), await limited(s, 99, rolling)];
  await book(s, one.upstream);
  expect(await until(s, one.upstream)).toBeNull();
  await at(s, '01T12:20:00');
  for (let i = 0; i < 2; i++) await book(s, other.upstream);
  await at(s, '01T12:30:00');
  await book(s, one.upstream);
  expect(await until(s, one.upstream)).toBe('01T13:00:00');
  await at(s, '01T12:59:00');
  expect(await until(s, one.upstream)).toBe('01T13:00:00');
  await book(s, one.upstream);
  expect(await until(s, one.upstream)).toBe('01T13:30:00');
  await at(s, '01T13:31:00');
  expect(await until(s, one.upstream)).toBeNull();
});

onEvery('of a window: until its end, whatever kind the limit has by now', async (s) => {
  await at(s, '02T12:00:00');
  const [fixed, late, rolled] = [await limited(s, 1), await limited(s, 1), await limited(s, 1, rolling)];
  const first = await limited(s, 1, { kind: 'first_use', lengthMs: HOUR });
  for (const { upstream } of [fixed, late, first]) await book(s, upstream);
  await set(s, fixed, rolling);
  await at(s, '02T12:30:00');
  expect([await until(s, fixed.upstream), await until(s, first.upstream)]).toEqual(['03T00:00:00', '02T13:00:00']);
  await s.recoup.upstreams.limits.reset(first.limit);
  await book(s, first.upstream);
  await at(s, '02T13:10:00');
  expect(await until(s, first.upstream)).toBeNull();
  await at(s, '02T23:30:00');
  await s.recoup.upstreams.limits.reset(late.limit);
  await book(s, late.upstream);
  await set(s, late, rolling);
  expect(await until(s, late.upstream)).toBe('03T00:00:00');
  await at(s, '03T00:10:00');
  expect([await until(s, fixed.upstream), await until(s, late.upstream)]).toEqual([null, '03T00:30:00']);
  await book(s, rolled.upstream);
  expect(await until(s, rolled.upstream)).toBe('03T01:10:00');
  // In the very second that rolled.
  await set(s, rolled, daily);
  expect(await until(s, rolled.upstream)).toBeNull();
});

onEvery(
  'what counts for it, no more: limits of others, of a model, that ended; and it waits for none of them',
  async (s) => {
    await at(s, '04T12:00:00');
    const { pool, names } = await poolOf(s, 2);
    const [one, other] = names as [string, string];
    const monthly: Of = { kind: 'monthly', zone: 'UTC', day: 1 };
    const own = { limit: newId('limit'), upstream: one };
    const others = { limit: newId('limit'), upstream: other };
    await set(s, own, daily);
    await set(s, others, monthly);
    const [model, ended, shared] = [newId('limit'), newId('limit'), newId('limit')];
    await set(s, { limit: model, upstream: one }, monthly, { scope: 'model:m' });
    await set(s, { limit: ended, upstream: one }, monthly);
    await s.recoup.upstreams.limits.set({ limit: shared, quotaGroup: one, unit: 'requests', amount: 1, ...monthly });
    await s.recoup.upstreams.register({ upstream: newId('up'), pool, provider: newId('provider'), quotaGroup: one });
    await s.recoup.upstreams.report({ upstream: one, success: true, key: newId('key'), model: 'm' });
    await book(s, other);
    const [grouped] = await s.db.query('select id from recoup.upstreams where quota_group = $1', [one]);
    await book(s, String(grouped!.id));
    await s.recoup.upstreams.limits.end(ended);
    expect(await until(s, one)).toBe('05T00:00:00');
    const holder = await s.client();
    const holding = async (limits: string[]) => {
      await holder.query('begin');
      await holder.query('select from recoup.limits where id = any ($1) for update', [limits]);
      await s.db.query('update recoup.upstreams set quota_until = null where id = any ($1)', [names]);
      const said = outcomes((await asked(s, setApart, { upstream_id: one })) as { outcome: string }[]);
      await holder.query('commit');
      return said;
    };
    expect(await holding([others.limit, model, ended, shared])).toEqual(['apart']);
    // The other one has used up its own, and was not asked for.
    expect(await s.db.query('select quota_until from recoup.upstreams where id = $1', [other])).toEqual([
      { quota_until: null },
    ]);
    expect(await holding([own.limit])).toEqual(['again']);
    expect(outcomes(await asked(s, ofUpstreams.reset, { limit_id: own.limit }))).toEqual(['reset']);
    expect(await until(s, one)).toBeNull();
  },
);

onEvery('after all of it the books are right', booksAreRight);
