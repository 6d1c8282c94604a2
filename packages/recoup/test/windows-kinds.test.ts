// The kinds of windows: days that are not 24 hours long, first use, what rolls, a kind that is changed, and what is forgotten.
import { expect } from 'vitest';
import { book, daily, limited, type Of, used, windows } from './support/limits.ts';
import { times } from './support/look.ts';
import { MINUTE, ms, SECOND, use } from './support/pools.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const HOUR = 60 * MINUTE;
const rolling = (lengthMs: number): Of => ({ kind: 'rolling', lengthMs });
const outcome = async (s: Stage, pool: string) => (await use(s, pool)).outcome;

onEvery('a day of 25 hours is one window and one reset, one of 23 too', async (s) => {
  for (const [day, start, end, hours] of [
    ['2026-11-01', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z', 25],
    ['2027-03-14', '2027-03-14T05:00:00Z', '2027-03-15T04:00:00Z', 23],
  ] as const) {
    await s.db.setClock(start);
    const { upstream, limit } = await limited(s, 100, { kind: 'daily', zone: 'America/New_York' });
    for (let hour = 0; hour < hours; hour++) {
      await book(s, upstream);
      await s.recoup.sweep();
      await s.db.advance(HOUR);
    }
    expect((await s.db.now()).toISOString()).toBe(new Date(end).toISOString());
    for (let i = 0; i < 3; i++) await s.recoup.sweep();
    const [first, next, ...others] = await windows(s, limit);
    expect([first, others]).toEqual([
      `${new Date(start).toISOString()} ${new Date(end).toISOString()} ${hours} use`,
      [],
    ]);
    expect([day, next]).toEqual([day, expect.stringMatching(/ 0 roll$/)]);
  }
});

onEvery('a rolling limit: room again when enough of the oldest has fallen out, to the second', async (s) => {
  const at = (time: string) => s.db.setClock(`2026-04-01T${time}Z`);
  await at('10:00:00');
  const { pool, upstream, limit } = await limited(s, 10, rolling(5 * HOUR));
  await book(s, upstream, 2);
  await at('12:00:00');
  await book(s, upstream, 3);
  await at('14:00:00');
  expect(await used(s, limit)).toBe(5);
  await book(s, upstream, 7);
  const recovery = async () => ms((await use(s, pool)).expectedRecoveryAt);
  // 12 are used: the first two falling out leaves ten, which is not under the limit.
  expect([await used(s, limit), await recovery()]).toEqual([12, Date.parse('2026-04-01T17:00:00Z')]);
  await at('14:59:59.999');
  expect(await used(s, limit)).toBe(12);
  await at('15:00:00');
  expect([await used(s, limit), await outcome(s, pool)]).toEqual([10, 'none']);
  await at('16:59:59.999');
  expect(await outcome(s, pool)).toBe('none');
  await at('17:00:00');
  expect([await used(s, limit), await outcome(s, pool)]).toEqual([7, 'selected']);
  await at('19:00:00');
  expect(await used(s, limit)).toBe(0);
  // A part of a second counts to the end of it: never too short.
  await at('20:00:00.400');
  await book(s, upstream, 10);
  expect(await recovery()).toBe(Date.parse('2026-04-02T01:00:01Z'));
  await at('20:00:00.900');
  expect(await s.recoup.upstreams.limits.reset(limit, { actor: 'ann' })).toEqual({ outcome: 'reset' });
  expect([await used(s, limit), await outcome(s, pool)]).toEqual([0, 'selected']);
  await book(s, upstream, 1);
  await at('20:00:03');
  await book(s, upstream, 1);
  expect(await used(s, limit)).toBe(2);
});

onEvery('a window of first use begins with it and is over after its length', async (s) => {
  await s.db.setClock('2026-04-01T10:00:00Z');
  const { pool, upstream, limit } = await limited(s, 2, { kind: 'first_use', lengthMs: 5 * HOUR });
  await s.db.setClock('2026-04-01T10:00:07.250Z');
  await book(s, upstream);
  await s.db.setClock('2026-04-01T14:00:00Z');
  await book(s, upstream);
  expect(ms((await use(s, pool)).expectedRecoveryAt)).toBe(Date.parse('2026-04-01T15:00:07.250Z'));
  await s.db.setClock('2026-04-01T15:00:07.250Z');
  expect(await outcome(s, pool)).toBe('selected');
  await s.recoup.sweep();
  await s.db.setClock('2026-04-02T00:00:00Z');
  await book(s, upstream);
  expect(await windows(s, limit)).toEqual([
    '2026-04-01T10:00:07.250Z 2026-04-01T15:00:07.250Z 2 use',
    '2026-04-02T00:00:00.000Z 2026-04-02T05:00:00.000Z 1 use',
  ]);
});

onEvery('a new amount counts at once; a new zone or kind when the window ends that it is in', async (s) => {
  await s.db.setClock('2026-05-05T12:00:00Z');
  const { pool, upstream, limit } = await limited(s, 3);
  const set = (amount: number, of: Of) =>
    s.recoup.upstreams.limits.set({ limit, upstream, unit: 'requests', amount, ...of });
  await book(s, upstream, 3);
  expect([await set(4, daily), await outcome(s, pool)]).toEqual([{ outcome: 'changed' }, 'selected']);
  expect([await set(2, daily), await set(2, daily), await outcome(s, pool)]).toEqual([
    { outcome: 'changed' },
    { outcome: 'duplicate' },
    'none',
  ]);
  const tokyo: Of = { kind: 'daily', zone: 'Asia/Tokyo' };
  await set(2, tokyo);
  await s.db.setClock('2026-05-05T15:00:00Z');
  expect([await used(s, limit), await outcome(s, pool)]).toEqual([3, 'none']);
  await s.db.setClock('2026-05-06T00:00:00Z');
  expect(await outcome(s, pool)).toBe('selected');
  // From where the old one ended to the next midnight of the new zone.
  await book(s, upstream);
  await set(2, rolling(HOUR));
  expect(await used(s, limit)).toBe(1);
  await s.db.setClock('2026-05-06T14:59:59Z');
  await book(s, upstream);
  expect(await outcome(s, pool)).toBe('none');
  await s.db.setClock('2026-05-06T15:00:00Z');
  expect(await used(s, limit)).toBe(0);
  await book(s, upstream, 2);
  expect(ms((await use(s, pool)).expectedRecoveryAt)).toBe(Date.parse('2026-05-06T16:00:00Z'));
  await set(2, { kind: 'weekly', zone: 'UTC', weekday: 1 });
  await s.db.setClock('2026-05-06T15:00:01Z');
  await book(s, upstream);
  expect(await windows(s, limit)).toEqual([
    '2026-05-05T00:00:00.000Z 2026-05-06T00:00:00.000Z 3 use',
    '2026-05-06T00:00:00.000Z 2026-05-06T15:00:00.000Z 2 use',
    '2026-05-06T15:00:00.000Z 2026-05-06T15:00:01.000Z 2 use',
    '2026-05-06T15:00:01.000Z 2026-05-11T00:00:00.000Z 1 use',
  ]);
});

onEvery('uses are forgotten a day after their window, with what rolled; what is used stays right', async (s) => {
  await s.db.setClock('2026-07-01T23:00:00Z');
  const [day, roll] = [await limited(s, 100), await limited(s, 100, rolling(2 * HOUR))];
  const rows = async (limit: string) => {
    const count = (table: string) => `(select count(*)::int from recoup.${table} where limit_id = $1) as ${table}`;
    const [row] = await s.db.query(`select ${count('windows')}, ${count('uses')}`, [limit]);
    return [row!.windows, row!.uses];
  };
  for (const { upstream } of [day, roll])
    for (const _ of times(3, () => 0)) {
      await book(s, upstream);
      await s.db.advance(2 * SECOND);
    }
  await s.db.setClock('2026-07-02T23:30:00Z');
  for (const { upstream } of [day, roll]) await book(s, upstream);
  await s.recoup.sweep();
  expect([await rows(day.limit), await rows(roll.limit)]).toEqual([
    [2, 4],
    [4, 4],
  ]);
  await s.db.setClock('2026-07-03T02:00:00Z');
  await s.recoup.sweep();
  expect([await rows(day.limit), await rows(roll.limit)]).toEqual([
    [3, 1],
    [1, 1],
  ]);
  expect((await s.recoup.verify({ testClock: true })).problems).toEqual([]);
  await s.db.setClock('2026-07-09T00:00:00Z');
  await s.recoup.sweep();
  expect([await rows(day.limit), await rows(roll.limit)]).toEqual([
    [3, 0],
    [1, 0],
  ]);
  for (const { upstream, limit } of [day, roll])
    expect([await book(s, upstream), await used(s, limit)]).toEqual(['booked', 1]);
});

onEvery('after all of it the books are right', booksAreRight);
