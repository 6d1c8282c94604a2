// docs/proof.md against the code: rules, checks and tests that its table names are there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const docs = join(import.meta.dirname, '../docs');
const read = (page: string) => readFileSync(join(docs, page), 'utf8');
const table = read('proof.md').split('\n## ')[0]!;
const rows = table
  .split('\n')
  .filter((line) => /^\| [A-Z]/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const names = (cell: string) => [...cell.matchAll(/`([\w.]+)`/g)].map(([, name]) => name!);

test('every promise has a rule or a check, and a race', () => {
  expect(rows.length).toBeGreaterThan(10);
  for (const [promise, rules, verified, raced] of rows) {
    expect([promise, names(rules!).length + names(verified!).length]).not.toEqual([promise, 0]);
    if (names(rules!).length > 0) expect([promise, raced]).not.toEqual([promise, '']);
  }
});

test('its rules are rules of the schema, its checks those of verify, and each check stands for a promise', () => {
  const guards = [...read('promises.md').matchAll(/^\| `\w+` \| `(\w+)` \|/gm)].map(([, name]) => name);
  for (const [promise, rules] of rows) {
    expect([promise, names(rules!).filter((name) => !guards.includes(name))]).toEqual([promise, []]);
  }
  const verified = new Set(rows.flatMap(([, , cell]) => names(cell!)));
  const checks = [...read('promises.md').matchAll(/^\| `(\w+\.\w+)` \|/gm)].map(([, name]) => name);
  expect([...verified].sort()).toEqual(checks.sort());
});

test('its races are tests of the files that they link to', () => {
  const races = [...table.matchAll(/\[([^\]]+)\]\((\.\.\/packages\/recoup\/test\/[^)]+)\)/g)];
  expect(races.length).toBeGreaterThan(10);
  for (const [, title, file] of races) expect([title, read(file!).includes(title!)]).toEqual([title, true]);
});
