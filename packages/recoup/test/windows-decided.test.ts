// Limits and windows: what a statement decides of two in one, of what changed behind its snapshot, and of what is another's.
import { expect } from 'vitest';
import type { Columns, Statement } from '../src/db/statement.ts';
import { forgetUses } from '../src/sweeps/windows.ts';
import { ofUpstreams, useUpstream } from '../src/upstreams/limits.ts';
import { setApart } from '../src/upstreams/quota.ts';
import { rollWindow } from '../src/windows/roll.ts';
import { asked, behind, outcomes } from './support/asked.ts';
import { book, daily, limited, type Of, used } from './support/limits.ts';
import { HOUR, poolOf } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const rolling: Of = { kind: 'rolling', lengthMs: HOUR };
const at = (s: Stage, time: string) => s.db.setClock(`2031-${time}Z`);

const newer = (limit: string) => `update recoup.limits set set_at = set_at where id = '${limit}'`;
/** What sets a limit as `limited` does. */
const setting = (upstream: string, limit: string, amount: number) => ({
  ...{ limit_id: limit, subject_type: 'upstream', subject_id: upstream, scope: '', unit: 'requests', amount },
  ...{ kind: 'daily', zone: 'UTC', start_hour: 0 },
});

onEvery('what is forgotten is of that limit, up to its last window that is long over, and counted once', async (s) => {
  await at(s, '04-01T00:00:00');
  const monthly: Of = { kind: 'monthly', zone: 'UTC', day: 1 };
  const [day, month] = [await limited(s, 99), await limited(s, 99, monthly)];
  const [rolled, slow] = [await limited(s, 99, rolling), await limited(s, 99, { ...rolling, lengthMs: 720 * HOUR })];
  const all = [day, month, rolled, slow];
  const use = async (time: string) => {
    await at(s, time);
    for (const { upstream } of all) await book(s, upstream);
  };
  const count = async (table: string, { limit }: { limit: string }) =>
    (await s.db.query(`select from recoup.${table} where limit_id = $1`, [limit])).length;
  /** How many windows a sweep forgets, and what is left then of each limit. */
  const forgotten = async (time: string) => {
    await at(s, time);
    const [{ forgotten }] = (await asked(s, forgetUses, { count: 1000 })) as [{ forgotten: number }];
    const left = (table: string) => Promise.all(all.map((of) => count(table, of)));
    return { forgotten, uses: await left('uses'), windows: await left('windows') };
  };
  for (const second of ['00', '01', '02']) await use(`04-01T00:00:${second}`);
  expect(await forgotten('04-02T01:00:02.5')).toEqual({ forgotten: 2, uses: [3, 3, 1, 3], windows: [1, 1, 1, 3] });
  await use('04-02T12:00:00');
  expect(await forgotten('04-03T00:00:01')).toEqual({ forgotten: 2, uses: [1, 4, 1, 4], windows: [2, 1, 1, 4] });
  expect((await forgotten('04-03T00:00:02')).forgotten).toBe(0);
  // The second that a limit still names stays, without what was booked in it.
  expect(await forgotten('04-05T13:00:01')).toEqual({ forgotten: 2, uses: [0, 4, 0, 4], windows: [2, 1, 1, 4] });
  expect([(await forgotten('04-05T13:00:02')).forgotten, await used(s, month.limit)]).toEqual([0, 4]);
});

onEvery(
  'of two inputs about two limits the one whose limit is newer than the snapshot is looked at again',
  async (s) => {
    await at(s, '05-01T12:00:00');
    // Held in the order of their ids.
    const pair = async () => [await limited(s, 5), await limited(s, 5)].sort((a, b) => (a.limit < b.limit ? -1 : 1));
    const statements = {
      set: (of: { upstream: string; limit: string }) => setting(of.upstream, of.limit, 6),
      reset: ({ limit }: { limit: string }) => ({ limit_id: limit }),
      end: ({ limit }: { limit: string }) => ({ limit_id: limit }),
    };
    for (const [name, outcome] of [
      ['set', 'changed'],
      ['reset', 'reset'],
      ['end', 'ended'],
    ] as const) {
      const [one, two] = (await pair()) as [Awaited<ReturnType<typeof limited>>, Awaited<ReturnType<typeof limited>>];
      for (const { upstream } of [one, two]) await book(s, upstream);
      const statement = ofUpstreams[name] as Statement<Columns, { ord: number; outcome: string }>;
      const inputs = [statements[name](one), statements[name](two)];
      expect([name, await behind(s, statement, inputs, newer(two.limit))]).toEqual([name, [outcome, 'again']]);
      expect([name, outcomes(await asked(s, statement, ...inputs))]).toEqual([name, ['duplicate', outcome]]);
    }
    const [one, two] = (await pair()) as [Awaited<ReturnType<typeof limited>>, Awaited<ReturnType<typeof limited>>];
    for (const { upstream } of [one, two]) await book(s, upstream);
    await at(s, '05-02T00:00:00');
    const inputs = [{ limit_id: one.limit }, { limit_id: two.limit }];
    expect(await behind(s, rollWindow, inputs, newer(two.limit))).toEqual(['rolled', 'again']);
    expect(outcomes(await asked(s, rollWindow, ...inputs))).toEqual(['duplicate', 'rolled']);
  },
);

onEvery('two inputs about one limit in one statement: the second is decided in the light of the first', async (s) => {
  await at(s, '05-03T12:00:00');
  const { names } = await poolOf(s, 1);
  const [upstream, limit] = [names[0]!, newId('limit')];
  const sets = [setting(upstream, limit, 1), setting(upstream, limit, 2)];
  expect(outcomes(await asked(s, ofUpstreams.set, ...sets))).toEqual(['set', 'again']);
  expect(outcomes(await asked(s, ofUpstreams.set, setting(upstream, limit, 3), setting(upstream, limit, 4)))).toEqual([
    'changed',
    'again',
  ]);
  await book(s, upstream);
  const twice = [{ limit_id: limit }, { limit_id: limit }];
  expect(outcomes(await asked(s, ofUpstreams.reset, ...twice))).toEqual(['reset', 'again']);
  await book(s, upstream);
  const use = { upstream_id: upstream, scopes: [''], key: newId('key') };
  const uses = [
    { ...use, used: { requests: 1 } },
    { ...use, used: { requests: 7 } },
  ];
  expect(outcomes(await asked(s, useUpstream, ...uses))).toEqual(['booked', 'duplicate']);
  expect(await used(s, limit)).toBe(2);
  await at(s, '05-04T00:00:00');
  // Servers differ in whether the second one sees what the first one wrote.
  const [first, second] = outcomes(await asked(s, rollWindow, ...twice));
  expect([first, /^(duplicate|again)$/.test(second!)]).toEqual(['rolled', true]);
  expect(outcomes(await asked(s, ofUpstreams.end, ...twice))).toEqual(['ended', 'again']);
  expect(outcomes(await asked(s, ofUpstreams.end, { limit_id: 'none' }))).toEqual(['no_limit']);
  expect(outcomes(await asked(s, rollWindow, { limit_id: 'none' }))).toEqual(['duplicate']);
});

onEvery('a use that waits for the end of its limit is booked nowhere', async (s) => {
  const { upstream, limit } = await limited(s, 5);
  const use = { upstream_id: upstream, scopes: [''], key: newId('key'), used: { requests: 1 } };
  expect(
    await behind(s, useUpstream, [use], `update recoup.limits set ended_at = recoup.clock() where id = '${limit}'`),
  ).toEqual(['none']);
  expect(await s.db.query('select from recoup.uses where limit_id = $1', [limit])).toEqual([]);
});

onEvery('a set that finds another of its id just made is decided again in its light', async (s) => {
  const { names } = await poolOf(s, 1);
  const limit = newId('limit');
  const making = `insert into recoup.limits (id, subject_type, subject_id, scope, unit, kind, zone, start_hour, amount, set_at)
    values ('${limit}', 'upstream', '${names[0]}', '', 'requests', 'daily', 'UTC', 0, 5, recoup.clock())`;
  expect(await behind(s, ofUpstreams.set, [setting(names[0]!, limit, 5)], making)).toEqual(['again']);
  expect(outcomes(await asked(s, ofUpstreams.set, setting(names[0]!, limit, 5)))).toEqual(['duplicate']);
});

onEvery('what frees a provider leaves an upstream of the same name where it stands', async (s) => {
  await at(s, '05-05T12:00:00');
  const { pool, names } = await poolOf(s, 1);
  await s.recoup.upstreams.register({ upstream: pool, pool: newId('pool'), provider: newId('provider') });
  const apart = async (upstream: string) =>
    (
      await s.db.query('select quota_until > recoup.clock() as apart from recoup.upstreams where id = $1', [upstream])
    )[0]!.apart;
  const shared = newId('limit');
  const limit = { unit: 'requests', amount: 1, ...daily };
  await s.recoup.upstreams.limits.set({ limit: shared, provider: pool, ...limit });
  for (const upstream of [pool, names[0]!]) {
    await s.recoup.upstreams.limits.set({ limit: newId('limit'), upstream, ...limit });
    await book(s, upstream);
  }
  expect([await apart(pool), await apart(names[0]!)]).toEqual([true, true]);
  const own = (await s.recoup.upstreams.limits.list({ upstream: names[0]! })).find(({ limit: id }) => id !== shared)!;
  await s.recoup.upstreams.limits.reset(shared);
  expect([await apart(pool), await apart(names[0]!)]).toEqual([true, true]);
  await s.recoup.upstreams.limits.end(own.limit);
  expect([await apart(pool), await apart(names[0]!)]).toEqual([true, null]);
  // Asked of who has used up nothing, and of nobody, it sets nobody apart.
  expect(outcomes([...(await asked(s, setApart, { upstream_id: names[0]! }))] as never)).toEqual(['again']);
  expect([await apart(pool), await apart(names[0]!)]).toEqual([true, null]);
});

onEvery('after all of it the books are right', booksAreRight);
