// Alerts: what fires or ends is that condition of that subject alone; limits that roll, end or change their kind.
import { expect } from 'vitest';
import type { AlertKind } from '../src/index.ts';
import { book, daily, limited, type Of } from './support/limits.ts';
import { HOUR, MINUTE, poolOf, SECOND } from './support/pools.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';
import { untilWaiting, watch } from './support/waiting.ts';

const { onEvery } = staging();

/** Looks; what fires then of a subject, by kind, with its numbers. */
async function firing(s: Stage, of: string): Promise<Partial<Record<AlertKind, number>>> {
  await s.recoup.alerts.look();
  const alerts = (await s.recoup.alerts.list({ limit: 1000 })).filter(({ subject }) => subject === of);
  return Object.fromEntries(alerts.map(({ kind, number }) => [kind, number]));
}
const full = { near_exhausted: 1, exhausted: 1 };
const lasting = (lengthMs: number): Of => ({ kind: 'first_use', lengthMs });

onEvery('two conditions of one limit fire and end apart, each numbered by itself', async (s) => {
  const { upstream, limit } = await limited(s, 9, lasting(HOUR));
  await book(s, upstream, 9);
  expect(await firing(s, `limit:${limit}`)).toEqual(full);
  const steps: [amount: number, Awaited<ReturnType<typeof firing>>][] = [
    [10, { near_exhausted: 1 }],
    [100, {}],
    [10, { near_exhausted: 2 }],
    [100, {}],
    [9, { near_exhausted: 3, exhausted: 2 }],
  ];
  for (const [amount, holds] of steps) {
    await s.recoup.upstreams.limits.set({ limit, upstream, unit: 'requests', amount, ...lasting(HOUR) });
    expect([amount, await firing(s, `limit:${limit}`)]).toEqual([amount, holds]);
  }
});

onEvery('of two subjects one fires and ends, the other stays; each counts its own times', async (s) => {
  const { names } = await poolOf(s, 2);
  const block = async (upstream: string) => (await s.recoup.upstreams.block(upstream, { reason: 'r' })).block!;
  const [one, other] = [await block(names[0]!), await block(names[1]!)];
  await s.db.advance(HOUR + 1);
  expect(await firing(s, `block:${one}`)).toEqual({ blocked_long: 1 });
  await s.recoup.upstreams.free(one);
  expect([await firing(s, `block:${one}`), await firing(s, `block:${other}`)]).toEqual([{}, { blocked_long: 1 }]);
  const [first, second] = [await limited(s, 1, lasting(MINUTE)), await limited(s, 1, lasting(MINUTE))];
  for (const number of [1, 2]) {
    await book(s, first.upstream);
    expect(await firing(s, `limit:${first.limit}`)).toEqual({ near_exhausted: number, exhausted: number });
    await s.db.advance(MINUTE + 1);
    expect(await firing(s, `limit:${first.limit}`)).toEqual({});
  }
  await book(s, first.upstream);
  await book(s, second.upstream);
  expect(await firing(s, `limit:${second.limit}`)).toEqual(full);
  await s.recoup.upstreams.limits.reset(first.limit);
  expect([await firing(s, `limit:${first.limit}`), await firing(s, `limit:${second.limit}`)]).toEqual([{}, full]);
});

onEvery('a limit that does not count any more fires nothing', async (s) => {
  const { upstream, limit } = await limited(s, 1);
  await book(s, upstream);
  expect(await firing(s, `limit:${limit}`)).toEqual(full);
  await s.recoup.upstreams.limits.end(limit);
  expect(await firing(s, `limit:${limit}`)).toEqual({});
});

const rolling: Of = { kind: 'rolling', lengthMs: HOUR };
const at = (s: Stage, time: string) => s.db.setClock(`2031-03-${time}Z`);

onEvery('what rolls fires until enough has fallen out, whatever was used of others', async (s) => {
  await at(s, '10T12:00:00');
  const [one, other] = [await limited(s, 2, rolling), await limited(s, 99, rolling)];
  const of = `limit:${one.limit}`;
  await book(s, one.upstream);
  expect(await firing(s, of)).toEqual({});
  await at(s, '10T12:20:00');
  await book(s, other.upstream);
  await at(s, '10T12:30:00');
  await book(s, one.upstream);
  expect(await firing(s, of)).toEqual(full);
  await at(s, '10T12:59:59');
  expect(await firing(s, of)).toEqual(full);
  await at(s, '10T13:01:00');
  expect(await firing(s, of)).toEqual({});
});

onEvery('a limit whose kind is changed counts the window that it is in to its end', async (s) => {
  await at(s, '11T12:00:00');
  const [fixed, late, rolled] = [await limited(s, 1), await limited(s, 1), await limited(s, 1, rolling)];
  const set = ({ limit, upstream }: { limit: string; upstream: string }, of: Of) =>
    s.recoup.upstreams.limits.set({ limit, upstream, unit: 'requests', amount: 1, ...of });
  for (const { upstream } of [fixed, late]) await book(s, upstream);
  await set(fixed, rolling);
  await at(s, '11T14:00:00');
  expect(await firing(s, `limit:${fixed.limit}`)).toEqual(full);
  await at(s, '11T23:30:00');
  await s.recoup.upstreams.limits.reset(late.limit);
  await book(s, late.upstream);
  await set(late, rolling);
  await at(s, '12T00:10:00');
  expect([await firing(s, `limit:${fixed.limit}`), await firing(s, `limit:${late.limit}`)]).toEqual([{}, full]);
  await at(s, '12T00:31:00');
  expect(await firing(s, `limit:${late.limit}`)).toEqual({});
  await book(s, rolled.upstream);
  expect(await firing(s, `limit:${rolled.limit}`)).toEqual(full);
  // In the very second that rolled.
  await set(rolled, daily);
  expect(await firing(s, `limit:${rolled.limit}`)).toEqual({});
});

onEvery('a window from its first use on is over at its end, also where it was reset in between', async (s) => {
  await at(s, '13T12:00:00');
  const { upstream, limit } = await limited(s, 1, lasting(HOUR));
  await book(s, upstream);
  await at(s, '13T12:30:00');
  await s.recoup.upstreams.limits.reset(limit);
  await book(s, upstream);
  expect(await firing(s, `limit:${limit}`)).toEqual(full);
  await at(s, '13T13:10:00');
  expect(await firing(s, `limit:${limit}`)).toEqual({});
});

onEvery('a window of a provider fires where it is used up, not where it is told of', async (s) => {
  const { names } = await poolOf(s, 1);
  const note = (exhausted: boolean) =>
    s.recoup.upstreams.note({
      upstream: names[0]!,
      snapshots: [{ name: 'weekly', used: exhausted ? 1 : 0.5, exhausted }],
    });
  const of = `snapshot:["upstream", "${names[0]}", "", "weekly"]`;
  await note(false);
  expect(await firing(s, of)).toEqual({});
  await s.db.advance(SECOND);
  await note(true);
  expect(await firing(s, of)).toEqual({ snapshot_exhausted: 1 });
});

onEvery('idle is told by its own changes, not by those of another that was changed more often', async (s) => {
  const watching = await s.replica({ alertIdleMs: HOUR });
  const { names } = await poolOf(s, 2);
  await s.db.advance(HOUR + 1);
  for (const weight of [2, 3, 4, 5]) await s.recoup.upstreams.change(names[1]!, { weight });
  await watching.alerts.look();
  const idle = (await s.recoup.alerts.list({ kind: 'idle', limit: 1000 })).map(({ subject }) => subject);
  expect(idle).toContain(`upstream:${names[0]}`);
  expect(idle).not.toContain(`upstream:${names[1]}`);
});

onEvery('who finds that another has ended an alert in this moment ends it no second time', async (s) => {
  const { names } = await poolOf(s, 1);
  const block = (await s.recoup.upstreams.block(names[0]!, { reason: 'r' })).block!;
  const subject = `block:${block}`;
  await s.db.advance(HOUR + 1);
  expect(await firing(s, subject)).toEqual({ blocked_long: 1 });
  await s.recoup.upstreams.free(block);
  const rival = await s.client();
  await rival.query('begin');
  const [ended, told] = [
    'update recoup.alerts set recovered_at = recoup.clock() where subject = $1',
    `insert into recoup.alert_events (kind, subject, number, type, at) values ('blocked_long', $1, 1, 'recovered', recoup.clock())`,
  ];
  for (const sql of [ended, told]) await rival.query(sql, [subject]);
  const behind = watch(s.recoup.alerts.look());
  await untilWaiting(s.db);
  await rival.query('commit');
  expect(await behind.call).toMatchObject({ recovered: 0 });
});

onEvery('after all of it the books are right', booksAreRight);
