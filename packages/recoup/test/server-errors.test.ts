// Errors of the server, in whatever table they strike: races are run again inside, anything else changes nothing at all.
import { expect } from 'vitest';
import { OTHERS } from './support/every-form.ts';
import { CASES } from './support/every-transition.ts';
import { answer, digest, TABLES } from './support/look.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();
const EVERY = { ...CASES, ...OTHERS };

type Timing = 'before' | 'after';

/** Makes the next `count` changes of rows of a table fail with a code, as the server reports it; counted past rollbacks. */
async function failNext(s: Stage, table: string, timing: Timing, sqlstate: string, count: number): Promise<void> {
  await s.db.query(`drop sequence if exists recoup.trouble; create sequence recoup.trouble`);
  await s.db.query(`create or replace function recoup.make_trouble() returns trigger language plpgsql as $$ begin
    if nextval('recoup.trouble') <= ${count} then raise exception 'trouble' using errcode = '${sqlstate}'; end if;
    if tg_op = 'DELETE' then return old; end if; return new; end $$`);
  await s.db.query(`create or replace trigger trouble ${timing} insert or update or delete on recoup.${table}
    for each row execute function recoup.make_trouble()`);
}

const noMore = (s: Stage, table: string) => s.db.query(`drop trigger trouble on recoup.${table}`);

/** How often the trouble of now has struck. */
async function struck(s: Stage): Promise<number> {
  const [row] = await s.db.query(`select case when is_called then last_value else 0 end::int as n from recoup.trouble`);
  return Number(row?.n);
}

/** Which tables each transition writes, found by watching it; every table is written by some. */
async function written(s: Stage): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const [name, { make, first }] of Object.entries(EVERY)) {
    const tables: string[] = [];
    for (const table of TABLES) {
      const call = await make(s);
      await failNext(s, table, 'after', 'XX000', 0);
      expect([name, table, await answer(call(s.recoup))]).toEqual([name, table, first]);
      if ((await struck(s)) > 0) tables.push(table);
      await noMore(s, table);
    }
    if (tables.length === 0) throw new Error(`${name} writes no table`);
    found.set(name, tables);
  }
  expect(new Set([...found.values()].flat())).toEqual(new Set(TABLES));
  return found;
}

onFirst('an error in any table that a transition writes is answered as one and changes nothing at all', async (s) => {
  await s.stopClock();
  for (const [name, tables] of await written(s)) {
    const { make, first } = EVERY[name]!;
    for (const table of tables) {
      for (const timing of ['before', 'after'] as const) {
        const what = `${name}, ${timing} ${table}`;
        const call = await make(s);
        const before = await digest(s.db);
        await failNext(s, table, timing, 'XX000', 1_000_000);
        expect([what, await answer(call(s.recoup))]).toEqual([what, 'database_error']);
        expect([what, await digest(s.db)]).toEqual([what, before]);
        await noMore(s, table);
        expect([what, await answer(call(s.recoup))]).toEqual([what, first]);
        expect([what, (await digest(s.db)) === before]).toEqual([what, false]);
      }
    }
  }
  s.complaints.length = 0;
});

onEvery(
  'a serialization failure or a deadlock in any of these tables is run again inside until it succeeds',
  async (s) => {
    await s.stopClock();
    for (const [name, tables] of await written(s)) {
      const { make, first } = EVERY[name]!;
      for (const [index, table] of tables.entries()) {
        const what = `${name}, ${table}`;
        const call = await make(s);
        await failNext(s, table, 'after', index % 2 ? '40001' : '40P01', 3);
        expect([what, await answer(call(s.recoup))]).toEqual([what, first]);
        // A sweep passes over what it cannot have in that moment; the next one finds it again.
        for (let more = 0; first === 'swept' && more < 5 && (await struck(s)) <= 3; more++) await call(s.recoup);
        expect([what, (await struck(s)) > 3]).toEqual([what, true]);
        await noMore(s, table);
      }
    }
    expect(s.complaints).toEqual([]);
  },
);

onEvery('the books are right', booksAreRight);
