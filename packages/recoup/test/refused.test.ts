// What the database refuses by itself: every rule of the schema is broken by hand, and it is that rule that says no.
import { expect } from 'vitest';
import { rulesOf } from '../../../tools/ablate/constraints.ts';
import { type Query, refusedThoughFine, takenThoughBroken } from './support/refusals.ts';
import { REWRITTEN } from './support/rewritten.ts';
import { type Stage, staging } from './support/stage.ts';
import { BROKEN, FINE, ROWS, TWICE } from './support/violations.ts';

const { onEvery } = staging();

/** A connection in a transaction that is rolled back. */
async function inTransaction(s: Stage, work: (query: Query) => Promise<void>) {
  const client = await s.client();
  await client.query('begin');
  try {
    await work((sql, values) => client.query(sql, values));
  } finally {
    await client.query('rollback');
  }
}

onEvery('each rule of the schema refuses what breaks it, and takes what does not', async (s) => {
  const rules = await rulesOf((sql) => s.db.query(sql));
  await inTransaction(s, async (query) => {
    const wrong: string[] = [];
    for (const name of new Set(rules.map((rule) => rule.name))) wrong.push(...(await takenThoughBroken(query, name)));
    for (const table of Object.keys(ROWS)) wrong.push(...(await refusedThoughFine(query, table)));
    expect(wrong).toEqual([]);
  });
});

onEvery('no rule of the schema is without what breaks it, and nothing breaks a rule that is not there', async (s) => {
  const rules = await rulesOf((sql) => s.db.query(sql));
  const names = [...new Set(rules.map(({ name }) => name))].filter((name) => !name.includes('.'));
  const broken = [...Object.keys(BROKEN), ...Object.keys(TWICE), ...Object.keys(REWRITTEN)];
  expect(broken.sort()).toEqual(names.sort());
  expect([...new Set(rules.map(({ table }) => table))].sort()).toEqual(Object.keys(ROWS).sort());
  expect(Object.keys(FINE).every((table) => table in ROWS)).toBe(true);
});
