// Limits and windows where answers are lost, the server stumbles, or a caller's transaction decides.
import { expect } from 'vitest';
import type { InTransaction } from '../src/index.ts';
import { book, daily, limited } from './support/limits.ts';
import { answer } from './support/look.ts';
import { poolOf } from './support/pools.ts';
import { CuttingProxy } from './support/proxy.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();

type Call = (recoup: InTransaction) => Promise<unknown>;
interface Case {
  make(s: Stage): Promise<Call>;
  first: string;
  /** What its repeat says. */
  again: string;
}

/** Each transition of limits and windows as one call that can be made again. */
const CASES: Readonly<Record<string, Case>> = {
  'limit.set': {
    make: async (s) => {
      const { names } = await poolOf(s, 1);
      const input = { limit: newId('limit'), upstream: names[0]!, unit: 'requests', amount: 1, ...daily };
      return ({ upstreams }) => upstreams.limits.set(input);
    },
    first: 'set',
    again: 'duplicate',
  },
  'limit.set of another amount': {
    make: async (s) => {
      const { upstream, limit } = await limited(s, 1);
      return ({ upstreams }) => upstreams.limits.set({ limit, upstream, unit: 'requests', amount: 2, ...daily });
    },
    first: 'changed',
    again: 'duplicate',
  },
  'limit.end': {
    make: async (s) => {
      const { limit } = await limited(s, 1);
      return ({ upstreams }) => upstreams.limits.end(limit);
    },
    first: 'ended',
    again: 'duplicate',
  },
  'window.use': {
    make: async (s) => {
      const { upstream } = await limited(s, 1);
      const key = newId('key');
      return async ({ upstreams }) => ({ outcome: (await upstreams.report({ upstream, success: true, key })).use });
    },
    first: 'booked',
    again: 'duplicate',
  },
  'window.use behind a window that is over': {
    make: async (s) => {
      const { upstream } = await limited(s, 5);
      await book(s, upstream, 2);
      await s.db.advance(86_400_000);
      const key = newId('key');
      return async ({ upstreams }) => ({ outcome: (await upstreams.report({ upstream, success: true, key })).use });
    },
    first: 'booked',
    again: 'duplicate',
  },
  'window.reset': {
    make: async (s) => {
      const { upstream, limit } = await limited(s, 5);
      await book(s, upstream, 2);
      return ({ upstreams }) => upstreams.limits.reset(limit, { actor: 'ann' });
    },
    first: 'reset',
    again: 'duplicate',
  },
};

const TABLES = ['limits', 'windows', 'uses'];

async function digest(s: Stage): Promise<string> {
  const parts = TABLES.map(
    (table) =>
      `(select md5(coalesce(string_agg(t::text, '|' order by t::text collate "C"), '')) from recoup.${table} t)`,
  );
  return String((await s.db.query(`select concat_ws(' ', ${parts.join(', ')}) as digest`))[0]!.digest);
}

onEvery('an answer or a request that is lost: the repeat does it, or says that it is done', async (s) => {
  const proxy = await CuttingProxy.before(s.db.url);
  const recoup = await s.replica({ connection: proxy.url });
  await s.stopClock();
  for (const [name, { make, first, again }] of Object.entries(CASES)) {
    for (const what of ['request', 'answer'] as const) {
      const call = await make(s);
      const before = await digest(s);
      proxy.cutNext(name.split(' ')[0]!, what);
      expect([name, what, await answer(call(recoup))]).toEqual([name, what, 'database_unavailable']);
      expect([name, what, (await digest(s)) === before]).toEqual([name, what, what === 'request']);
      expect([name, what, await answer(call(recoup))]).toEqual([name, what, what === 'request' ? first : again]);
      const after = await digest(s);
      expect([name, what, await answer(call(recoup))]).toEqual([name, what, again]);
      expect([name, what, (await digest(s)) === after]).toEqual([name, what, true]);
    }
  }
  await recoup.close();
  await proxy.close();
});

onEvery(
  'in a transaction of the caller the answers are the same; its rollback leaves nothing, its commit all of it',
  async (s) => {
    for (const [name, { make, first, again }] of Object.entries(CASES)) {
      const call = await make(s);
      const before = await digest(s);
      const client = await s.client();
      const inside = async (ending: string) => {
        await client.query('begin');
        const said = [await answer(call(s.recoup.using(client))), await answer(call(s.recoup.using(client)))];
        await client.query(ending);
        return said;
      };
      expect([name, await inside('rollback')]).toEqual([name, [first, again]]);
      expect([name, (await digest(s)) === before]).toEqual([name, true]);
      expect([name, await inside('commit')]).toEqual([name, [first, again]]);
      expect([name, await answer(call(s.recoup)), (await digest(s)) === before]).toEqual([name, again, false]);
      expect([name, await answer(s.recoup.transaction((parts) => call(parts)))]).toEqual([name, again]);
      await client.end();
    }
  },
);

onEvery('an error in any table that is written changes nothing at all; a lost race is run again inside', async (s) => {
  let struck = 0;
  const trouble = async (table: string, sqlstate: string, count: number) => {
    await s.db.query(`drop sequence if exists recoup.trouble; create sequence recoup.trouble`);
    await s.db.query(`create or replace function recoup.make_trouble() returns trigger language plpgsql as $$ begin
      if nextval('recoup.trouble') <= ${count} then raise exception 'trouble' using errcode = '${sqlstate}'; end if; return new; end $$`);
    await s.db.query(
      `create or replace trigger trouble after insert or update on recoup.${table} for each row execute function recoup.make_trouble()`,
    );
  };
  for (const [name, { make, first }] of Object.entries(CASES)) {
    for (const table of TABLES) {
      const call = await make(s);
      const before = await digest(s);
      await trouble(table, 'XX000', 1_000_000);
      const got = await answer(call(s.recoup));
      expect([name, table, [first, 'database_error'].includes(got)]).toEqual([name, table, true]);
      if (got === first) {
        await s.db.query(`drop trigger trouble on recoup.${table}`);
        continue;
      }
      struck += 1;
      expect([name, table, (await digest(s)) === before]).toEqual([name, table, true]);
      await trouble(table, '40001', 1);
      expect([name, table, await answer(call(s.recoup))]).toEqual([name, table, first]);
      await s.db.query(`drop trigger trouble on recoup.${table}`);
    }
  }
  // set, change and end write the limit; a use all three, or not the windows; a reset the limit and its windows.
  expect(struck).toBe(1 + 1 + 1 + 3 + 3 + 2);
  await s.db.query('drop function recoup.make_trouble(); drop sequence recoup.trouble');
});

onEvery('after all of it the books are right', booksAreRight);
