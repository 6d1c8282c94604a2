// Periods of subscriptions: every instant is in one of them, in every zone, from every anchor, and the day of the month comes back.
import { expect } from 'vitest';
import { periodAt, periodStart } from '../src/subscriptions/periods.ts';
import { staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
];
const LENGTHS = [
  ['day', 1],
  ['day', 30],
  ['week', 2],
  ['month', 1],
  ['month', 3],
  ['year', 1],
];

onEvery('every instant is in the period that is found for it, which begins where the one before ends', async (s) => {
  const [found] = await s.db.query(
    `with p as (
       select anchor_at, k as anchor_period, every, every_count::int, zone, anchor_at + m * interval '7 hours 13 minutes' as at
       from (select timestamptz '2019-12-29 00:30Z' + k * interval '37 hours 29 minutes' as anchor_at, k from generate_series(0, 60) k) a
       cross join unnest($1::text[]) zone
       cross join unnest($2::text[], $3::int[]) as l(every, every_count)
       cross join (select (random() * 12000)::int as m from generate_series(1, 12)) i),
     n as (select p.*, ${periodAt('p', 'p.at')} as n from p),
     b as (select n.*, ${periodStart('n', 'n.n')} as begins, ${periodStart('n', '(n.n + 1)')} as ends from n)
     select count(*)::int as all, count(*) filter (where begins <= at and at < ends and n >= anchor_period)::int as right from b`,
    [ZONES, LENGTHS.map(([every]) => every), LENGTHS.map(([, count]) => count)],
  );
  expect(found!.all).toBe(61 * 7 * 6 * 12);
  expect(found!.right).toBe(found!.all);
});

onFirst('a month from the 31st ends with its month, and the 31st comes back; leap days and summer time', async (s) => {
  const begins = async (anchor: string, every: string, zone: string, numbers: number[]) => {
    const rows = await s.db.query(
      `select ${periodStart('p', 'n')} as at from (select $1::timestamptz as anchor_at, 0 as anchor_period, $2::text as every, 1 as every_count, $3::text as zone) p
       cross join unnest($4::int[]) n`,
      [anchor, every, zone, numbers],
    );
    return rows.map(({ at }) => (at as Date).toISOString().replace(':00.000Z', 'Z'));
  };
  expect(await begins('2023-12-31T12:00Z', 'month', 'UTC', [1, 2, 3, 4, 14])).toEqual([
    ...['2024-01-31T12:00Z', '2024-02-29T12:00Z', '2024-03-31T12:00Z', '2024-04-30T12:00Z', '2025-02-28T12:00Z'],
  ]);
  expect(await begins('2024-02-29T12:00Z', 'year', 'UTC', [1, 4])).toEqual(['2025-02-28T12:00Z', '2028-02-29T12:00Z']);
  // 02:30 does not exist on the night that summer time begins, and comes twice on the one that it ends.
  expect(await begins('2026-02-28T01:30Z', 'month', 'Europe/Berlin', [1])).toEqual(['2026-03-28T01:30Z']);
  expect(await begins('2026-03-28T01:30Z', 'day', 'Europe/Berlin', [1, 2])).toEqual([
    '2026-03-29T01:30Z',
    '2026-03-30T00:30Z',
  ]);
});
