// The ablation on a few guards, its reading of SQL, and its list of reasons held against what is there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { testDatabase } from '../../packages/recoup/src/testing.ts';
import { ablateGuard, ablateRules, checkSyntax, guards, type Removal } from './ablate.ts';
import { conditionsOf, without } from './conditions.ts';
import { rulesOf } from './constraints.ts';
import { REASONS, reasonKey, TESTS } from './known.ts';

const root = join(import.meta.dirname, '../..');
const [server] = inject('servers');
const pieces = (sql: string) => conditionsOf(sql).map(({ kind, text }) => `${kind}: ${text}`);

describe('conditions in a piece of SQL', () => {
  test.each<[sql: string, found: string[]]>([
    ['select a from t where b', ['conjunct: b']],
    ['select a from t where b = 1 and c', ['conjunct: b = 1', 'conjunct: c']],
    ['select a and b as both, c as one from t', ['conjunct: a', 'conjunct: b']],
    ['select (a or b) and c from t', ['conjunct: (a or b)', 'alternative: a', 'alternative: b', 'conjunct: c']],
    ['select a or b and c from t', ['alternative: a', 'alternative: b and c', 'conjunct: b', 'conjunct: c']],
    ['select a between 1 and 2 and b from t', ['conjunct: a between 1 and 2', 'conjunct: b']],
    ['select a is distinct from b and c from t', ['conjunct: a is distinct from b', 'conjunct: c']],
    ["select case when a and b then 'and' else c end from t", ['arm: a and b', 'conjunct: a', 'conjunct: b']],
    ["select case a when 'x' then 1 end from t", []],
    ['select a from t join u on t.id = u.id and t.x = u.x', []],
    ["select a from t where b = ' and ' -- and c\n and d /* or e */", ["conjunct: b = ' and '", 'conjunct: d']],
    [
      'select count(*) filter (where a) over (rows between unbounded preceding and 1 preceding) from t',
      ['conjunct: a'],
    ],
    [
      "select a from t where b && array['x', 'y'] and c[1] offset 0",
      ["conjunct: b && array['x', 'y']", 'conjunct: c[1]'],
    ],
    ['select case when a then b end and c from t', ['conjunct: case when a then b end', 'arm: a', 'conjunct: c']],
  ])('%s', (sql, found) => {
    expect(pieces(sql)).toEqual(found);
  });

  test('a conjunct that is taken out is true, an alternative and an arm are false', () => {
    const sql = 'select a or b, case when c then d end from t where e and f';
    expect(conditionsOf(sql).map((one) => without(sql, one))).toEqual([
      'select false or b, case when c then d end from t where e and f',
      'select a or false, case when c then d end from t where e and f',
      'select a or b, case when false then d end from t where e and f',
      'select a or b, case when c then d end from t where true and f',
      'select a or b, case when c then d end from t where e and true',
    ]);
  });
});

test('every guard of every statement is found under a name of its own, and what is left without it is a statement', async () => {
  const { all, statements } = await guards();
  expect(all.length).toBeGreaterThan(400);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  expect(await checkSyntax(server!.url, all, statements)).toEqual([]);
});

test('every rule of the schema that is taken out, whole or by one condition, is noticed, or says why it need not be', async () => {
  const removals: Removal[] = [];
  await ablateRules(
    server!.url,
    () => true,
    (one) => removals.push(one),
  );
  expect(removals.length).toBeGreaterThan(150);
  expect(removals.filter(({ by, reason }) => !by && !reason)).toEqual([]);
});

test.each(['job.submit · seen · total <= available', 'job.lapse · judged · coalesce(lease_until, deadline_at) <= now'])(
  'the simulation notices that this guard is gone: %s',
  async (id) => {
    const guard = (await guards()).all.find((one) => one.id === id)!;
    const never = () => Promise.reject(new Error('no other test should be needed'));
    expect(await ablateGuard(server!.url, guard, never)).toMatchObject({
      by: expect.stringMatching(/^simulation: seed \d+, step \d+$/),
    });
  },
);

test('what is known of guards is about guards that are there, and names tests that are there', async () => {
  await using db = await testDatabase(server!.url);
  const rules = await rulesOf((sql) => db.query(sql));
  const ids = [...(await guards()).all, ...rules].map(({ id }) => id);
  expect(Object.keys(TESTS).filter((id) => !ids.includes(id))).toEqual([]);
  const used = new Set(ids.map(reasonKey));
  expect(Object.keys(REASONS).filter((key) => !used.has(key))).toEqual([]);
  // The races stand in a file of their own, which two test files run.
  const text = (file: string) =>
    [file, 'packages/recoup/test/support/races.ts'].map((path) => readFileSync(join(root, path), 'utf8')).join('');
  const missing = Object.values(TESTS).filter(([file, name]) => !text(file).includes(name));
  expect(missing).toEqual([]);
});
