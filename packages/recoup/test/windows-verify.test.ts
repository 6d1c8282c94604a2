// verify on limits: a row that was changed by hand is found and named.
import { expect } from 'vitest';
import { book, daily, limited } from './support/limits.ts';
import { type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const TABLES = ['limits', 'windows', 'uses'];
const problems = async ({ recoup }: Stage) =>
  (await recoup.verify({ testClock: true })).problems.map(({ check, detail }) => `${check}: ${detail}`);

/** Changes rows and looks; puts them back. */
async function tampered(s: Stage, sql: string): Promise<string[]> {
  const client = await s.client();
  for (const table of TABLES) await client.query(`create temporary table ${table} as table recoup.${table}`);
  await client.query(sql);
  const found = await problems(s);
  for (const table of TABLES) {
    await client.query(`delete from recoup.${table}`);
    await client.query(`insert into recoup.${table} select * from pg_temp.${table}`);
  }
  await client.end();
  expect(await problems(s)).toEqual([]);
  return found;
}

onEvery('what is changed by hand in limits, their windows and uses is found', async (s) => {
  await s.db.setClock('2026-03-10T12:00:00Z');
  const [day, roll, unused] = [
    await limited(s, 100),
    await limited(s, 100, { kind: 'rolling', lengthMs: 60_000 }),
    await limited(s, 100, daily),
  ];
  for (const amount of [3, 4]) {
    for (const { upstream } of [day, roll]) await book(s, upstream, amount);
    await s.db.advance(5000);
  }
  await s.recoup.upstreams.limits.reset(day.limit);
  for (const amount of [2, 1]) await book(s, day.upstream, amount);
  await s.db.setClock('2026-03-11T01:00:00Z');
  await s.recoup.sweep();
  for (const { upstream } of [day, roll]) await book(s, upstream, 6);
  expect(await problems(s)).toEqual([]);
  const limit = (id: string, change: string) => `update recoup.limits set ${change} where id = '${id}'`;
  const at = (id: string, nth: number) =>
    `limit_id = '${id}' and window_start = (select window_start from recoup.windows where limit_id = '${id}' order by window_start offset ${nth} limit 1)`;
  const window = (nth: number, change: string, id = day.limit) =>
    `update recoup.windows set ${change} where ${at(id, nth)}`;
  const use = (nth: number, change: string) =>
    `update recoup.uses set ${change} where (limit_id, key) = (select limit_id, key from recoup.uses where ${at(day.limit, nth)} order by key limit 1)`;
  const wrong: [sql: string, ...found: RegExp[]][] = [
    [limit(day.limit, 'total = total + 1'), /^windows\.uses: .* counts 7, its uses 6/],
    [
      limit(day.limit, 'total_before = total_before - 1'),
      /^limits\.window: .*had counted 9 when its window began, the window says 10/,
    ],
    [
      limit(day.limit, `window_end = window_end + interval '1 h', rolls_at = null`),
      /^limits\.window: .*says it is in the window of/,
    ],
    [limit(roll.limit, 'total_before = total'), /^limits\.window: /],
    [
      limit(unused.limit, `window_start = now(), window_end = now() + interval '1 day', last_at = now()`),
      /^limits\.window: .*has no windows/,
    ],
    [
      `delete from recoup.limits where id = '${roll.limit}'`,
      ...[0, 1, 2].map(() => /^windows\.sequence: .*limit that is not there/),
      ...[0, 1, 2].map(() => /^windows\.uses: .* is not there, and has uses/),
    ],
    [
      window(1, 'total_before = total_before + 1'),
      /^windows\.uses: .* counts 8, its uses 7/,
      /^windows\.uses: .* counts 2, its uses 3/,
    ],
    [window(1, 'total_before = 20'), /^windows\.sequence: .*begins with less/, /^windows\.uses: /, /^windows\.uses: /],
    [window(1, `begun_by = 'roll'`), /^windows\.sequence: .*begins before the one before it ends/],
    [window(2, `window_end = window_end + interval '1 s'`), /^limits\.window: /],
    [window(1, 'total_before = total_before - 1', roll.limit), /^windows\.uses: /, /^windows\.uses: /],
    [
      `delete from recoup.windows where ${at(day.limit, 1)}`,
      /^windows\.uses: .* counts 10, its uses 7/,
      /^windows\.uses: .* is not there, and has uses/,
    ],
    [window(0, 'prunes_at = null'), /^windows\.uses: /],
    [use(0, 'amount = amount + 1'), /^windows\.uses: .* counts 7, its uses 8/],
    [use(1, `booked_at = booked_at - interval '1 h'`), /^windows\.uses: .*from outside of its time/],
    [use(1, `booked_at = booked_at + interval '1 day'`), /^windows\.uses: .*from outside of its time/],
    [`delete from recoup.uses where ${at(day.limit, 2)}`, /^windows\.uses: .* counts 6, its uses 0/],
  ];
  for (const [sql, ...found] of wrong)
    expect([sql, await tampered(s, sql)]).toEqual([sql, found.map((one) => expect.stringMatching(one))]);
});
