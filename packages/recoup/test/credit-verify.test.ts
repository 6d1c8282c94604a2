// verify on credit with terms: what was changed by hand is found and named.
import { expect } from 'vitest';
import { booksAreRight, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();

/** What verify finds once somebody did that past every guard; undone afterwards. */
async function found(s: Stage, sql: string): Promise<string[]> {
  const unguarded = async (statement: string) =>
    s.db.query(`begin; set local session_replication_role = replica;
      alter table recoup.grants disable trigger grants_append_only; alter table recoup.grant_entries disable trigger grant_entries_append_only;
      alter table recoup.entries disable trigger entries_append_only;
      ${statement};
      alter table recoup.grants enable always trigger grants_append_only; alter table recoup.grant_entries enable always trigger grant_entries_append_only;
      alter table recoup.entries enable always trigger entries_append_only; commit`);
  const tables = ['wallets', 'entries', 'grants', 'grant_entries'];
  await s.db.query(`drop schema if exists kept cascade; create schema kept`);
  for (const table of tables) await s.db.query(`create table kept.${table} as table recoup.${table}`);
  await unguarded(sql);
  const { problems } = await s.recoup.verify({ testClock: true });
  await unguarded(
    tables
      .map((table) => `delete from recoup.${table}; insert into recoup.${table} select * from kept.${table}`)
      .join(';'),
  );
  return problems.map(({ check, seq, detail }) => `${check} ${seq}: ${detail}`);
}

onEvery('an expiry before its time, of no grant, of more than it gave; terms of what is no grant', async (s) => {
  const expiresAt = new Date((await s.stopClock()) + 1000);
  const wallet = await s.wallet(1);
  await s.recoup.wallets.grant({ wallet, key: 'k', amount: 10, expiresAt });
  await s.db.advance(1000);
  await s.recoup.sweep();
  expect(await found(s, `select 1`)).toEqual([]);
  const early = 'credit.expired 3: it expired before its time: its grant is entry 2';
  const cases: [sql: string, problems: string[]][] = [
    [`update recoup.grants set expires_at = expires_at + interval '1 hour'`, [early]],
    ['update recoup.grants set expires_at = null, priority = 4', [early]],
    ['delete from recoup.grant_entries', ['credit.expired 3: credit expired, of no grant']],
    [
      'update recoup.grant_entries set seq = 2, of_seq = 1',
      ['credit.expired 2: it is about entry 1, and is no expiry', 'credit.expired 3: credit expired, of no grant'],
    ],
    ['update recoup.grants set seq = 3', [early, 'credit.terms 3: terms of what is no grant']],
    ['update recoup.wallets set next_expiry_at = null', ['credit.terms 2: it expires, and the wallet does not know']],
  ];
  for (const [sql, problems] of cases) expect(await found(s, sql), sql).toEqual(problems);
  const more = await found(
    s,
    `insert into recoup.entries (wallet_id, seq, type, amount, balance, created_at)
       select id, 4, 'expire', -1, balance - 1, recoup.clock() from recoup.wallets where id = '${wallet}';
     update recoup.wallets set last_seq = 4, balance = balance - 1, last_entry_at = recoup.clock() where id = '${wallet}';
     insert into recoup.grant_entries values ('${wallet}', 4, 2)`,
  );
  expect(more).toEqual([
    'credit.expired 3: of entry 2 more expired than it gave',
    'credit.expired 4: of entry 2 more expired than it gave',
  ]);
});

onEvery('the books are right', booksAreRight);
