// verify: whatever is tampered with by hand, it says so, and names the wallet and the first wrong entry.
import { expect } from 'vitest';
import { open, type Problem, type Recoup } from '../src/index.ts';
import { times } from './support/look.ts';
import { newId, type Stage, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();
const TABLES = ['wallets', 'entries', 'jobs', 'attempts', 'queues'];

/** Wallet `w` with seven entries of three jobs, and wallet `v` with one. */
async function books({ recoup, db }: Stage): Promise<void> {
  for (const wallet of ['w', 'v']) {
    await recoup.wallets.open({ wallet, customer: 'c' });
    await recoup.wallets.grant({ wallet, key: 'start', amount: 100 });
  }
  const submit = (job: string) => recoup.jobs.submit({ wallet: 'w', job, queue: 'q', price: 10 });
  const lease = () => recoup.jobs.lease({ queue: 'q' });
  const at = (job: string) => ({ wallet: 'w', job, attempt: 1 });
  await submit('reclaimed');
  await lease();
  await recoup.jobs.fail(at('reclaimed'));
  await recoup.jobs.succeed({ ...at('reclaimed'), finalPrice: 8 });
  await submit('refunded');
  await lease();
  await recoup.jobs.fail(at('refunded'));
  await submit('running');
  await lease();
  await db.query('create schema kept');
  for (const table of TABLES) await db.query(`create table kept.${table} as table recoup.${table}`);
}

/** Does something that nobody may do, past every guard of the database; puts everything back afterwards. */
async function tampered(s: Stage, sql: string): Promise<Problem[]> {
  const unguarded = (statements: string) => `begin; set local session_replication_role = replica;
    alter table recoup.entries disable trigger entries_append_only;
    ${statements};
    alter table recoup.entries enable always trigger entries_append_only; commit`;
  await s.db.query(unguarded(sql));
  const { ok, problems } = await s.recoup.verify();
  expect(ok).toBe(problems.length === 0);
  const back = TABLES.map(
    (table) => `delete from recoup.${table}; insert into recoup.${table} select * from kept.${table}`,
  );
  await s.db.query(unguarded(back.join(';')));
  expect((await s.recoup.verify()).problems).toEqual([]);
  return problems;
}

const prepared = new Map<Stage, Promise<void>>();
const prepare = (s: Stage) => {
  const done = prepared.get(s) ?? books(s);
  prepared.set(s, done);
  return done;
};

const shift = (
  by: number,
  from: number,
) => `update recoup.entries set balance = balance + ${by} where wallet_id = 'w' and seq >= ${from};
  update recoup.wallets set balance = balance + ${by} where id = 'w'`;

type Found = Partial<Problem>;
const WRONG: Record<string, [sql: string, found: Found]> = {
  'a balance edited': [
    `update recoup.wallets set balance = balance + 1 where id = 'w'`,
    { check: 'wallets.last_entry', seq: 8 },
  ],
  'a balance of a wallet without entries': [
    `insert into recoup.wallets (id, customer_id, balance, last_seq, last_entry_at) values ('empty', 'c', 5, 1, now())`,
    { check: 'wallets.last_entry', wallet: 'empty', seq: 1 },
  ],
  'a counter edited': [`update recoup.wallets set last_seq = 9 where id = 'w'`, { check: 'wallets.last_entry' }],
  'an instant edited': [
    `update recoup.wallets set last_entry_at = last_entry_at + interval '1 ms' where id = 'w'`,
    { check: 'wallets.last_entry' },
  ],
  'a wallet removed': [`delete from recoup.wallets where id = 'v'`, { check: 'wallets.last_entry', wallet: 'v' }],
  'the first entry removed': [
    `delete from recoup.entries where wallet_id = 'w' and seq = 1`,
    { check: 'entries.sequence', seq: 2 },
  ],
  'an entry removed': [
    `delete from recoup.entries where wallet_id = 'w' and seq = 4`,
    { check: 'entries.sequence', seq: 5 },
  ],
  'the last entry removed': [
    `delete from recoup.entries where wallet_id = 'w' and seq = 8`,
    { check: 'wallets.last_entry' },
  ],
  'all entries of a wallet removed': [
    `delete from recoup.entries where wallet_id = 'v'`,
    { check: 'wallets.last_entry', wallet: 'v', seq: 1 },
  ],
  'an amount edited': [
    `update recoup.entries set amount = -11 where wallet_id = 'w' and seq = 6`,
    { check: 'entries.sequence', seq: 6 },
  ],
  'a running balance edited': [
    `update recoup.entries set balance = 5 where wallet_id = 'w' and seq = 3`,
    { check: 'entries.sequence', seq: 3 },
  ],
  'an amount and its balance edited': [
    `update recoup.entries set amount = amount - 1, balance = balance - 1 where wallet_id = 'w' and seq = 6`,
    { check: 'entries.sequence', seq: 7 },
  ],
  'two entries exchanged': [
    `update recoup.entries set seq = case seq when 3 then 103 else 3 end where wallet_id = 'w' and seq = 3;
     update recoup.entries set seq = 3 where wallet_id = 'w' and seq = 4; update recoup.entries set seq = 4 where wallet_id = 'w' and seq = 103`,
    { check: 'entries.sequence', seq: 3 },
  ],
  'an entry older than the one before it': [
    `update recoup.entries set created_at = created_at - interval '1 hour' where wallet_id = 'w' and seq = 5`,
    { check: 'entries.sequence', seq: 5 },
  ],
  'an entry slipped in': [
    `insert into recoup.entries (wallet_id, seq, type, amount, balance, key, created_at)
     select 'v', 2, 'grant', 5, balance + 5, 'slipped', last_entry_at from recoup.wallets where id = 'v'`,
    { check: 'wallets.last_entry', wallet: 'v', seq: 2 },
  ],
  'a charge of another price, everything behind it shifted': [
    `update recoup.entries set amount = -15 where wallet_id = 'w' and seq = 2; ${shift(-5, 2)}`,
    { check: 'jobs.entries', seq: 2, job: 'reclaimed' },
  ],
  'a refund that is another kind of entry': [
    `update recoup.entries set type = 'adjust', key = 'x' where wallet_id = 'w' and seq = 7`,
    { check: 'jobs.entries', job: 'refunded' },
  ],
  'a price edited': [
    `update recoup.jobs set price = 11 where id = 'running'`,
    { check: 'jobs.entries', job: 'running' },
  ],
  'a final price edited': [
    `update recoup.jobs set final_price = 7 where id = 'reclaimed'`,
    { check: 'jobs.entries', job: 'reclaimed' },
  ],
  'a refund forgotten': [
    `update recoup.jobs set refunded_at = null where id = 'refunded'`,
    { check: 'jobs.entries', job: 'refunded' },
  ],
  'a refund that was never booked': [
    `update recoup.jobs set refunded_at = now() where id = 'running'`,
    { check: 'jobs.entries', job: 'running' },
  ],
  'a success without its reclaim': [
    `update recoup.jobs set state = 'succeeded', succeeded_at = now(), succeeded_attempt = 1, reclaimed_at = now(), not_before = null where id = 'refunded'`,
    { check: 'jobs.entries', job: 'refunded' },
  ],
  'a job without a charge': [
    `insert into recoup.jobs (wallet_id, id, queue, state, price, not_before) values ('v', 'free', 'q', 'queued', 0, now())`,
    { check: 'jobs.entries', wallet: 'v', job: 'free' },
  ],
  'a failure without its refund': [
    `update recoup.jobs set failures = 1, failed_attempt = 1, verdict = 'presumed' where id = 'running'`,
    { check: 'jobs.refunds_due', job: 'running', seq: null },
  ],
  'an end of an attempt removed': [
    `delete from recoup.attempts where job_id = 'refunded'`,
    { check: 'jobs.attempts', job: 'refunded' },
  ],
  'a position above every epoch': [
    `update recoup.entries set tx = '9223372036854775807' where wallet_id = 'w' and seq = 6`,
    { check: 'feed.epoch', seq: 6 },
  ],
  'an end of an attempt just above the newest epoch': [
    `update recoup.attempts set tx = ((select max(number) + 1 from recoup.epochs) * 281474976710656)::text::xid8 where job_id = 'refunded'`,
    { check: 'feed.epoch', job: 'refunded' },
  ],
  'an end of an attempt that never was': [
    `insert into recoup.attempts (wallet_id, job_id, attempt, ended_as, job_state, ended_at) values ('w', 'running', 1, 'released', 'queued', now()),
       ('w', 'running', 2, 'released', 'queued', now())`,
    { check: 'jobs.attempts', job: 'running' },
  ],
};

onEvery('each kind of tampering is found, with the wallet and the first wrong entry', async (s) => {
  await prepare(s);
  for (const [what, [sql, found]] of Object.entries(WRONG)) {
    const problems = await tampered(s, sql);
    expect([what, problems]).toEqual([
      what,
      expect.arrayContaining([expect.objectContaining({ wallet: 'w', ...found })]),
    ]);
    for (const { detail } of problems) expect(detail.length).toBeGreaterThan(10);
  }
  // Where no epoch passes a position, opening one is not what helps.
  const problems = await tampered(s, WRONG['a position above every epoch']![0] as string);
  const { detail } = problems.find(({ check }) => check === 'feed.position')!;
  expect(detail).toContain('has to be corrected');
  expect(detail).not.toContain('epochs open');
});

/** Every guard that the database has in the schema: what drops it, and what puts it back. */
async function guardsOf({ db }: Stage): Promise<{ name: string; drop: string; restore: string }[]> {
  const constraints = await db.query(`
    select conname as name, conrelid::regclass::text as "table", pg_get_constraintdef(oid) as definition, contype as type
    from pg_constraint where connamespace = 'recoup'::regnamespace and contype in ('c', 'p', 'u')
      and conrelid <> 'recoup.migrations'::regclass order by 1`);
  const indexes = await db.query(`
    select c.relname as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indisunique and c.relnamespace = 'recoup'::regnamespace and not exists (select from pg_constraint where conindid = i.indexrelid)`);
  return [
    ...constraints.map(({ name, table, definition }) => ({
      name: String(name),
      drop: `alter table ${table} drop constraint ${name}`,
      restore: `alter table ${table} add constraint ${name} ${definition}`,
    })),
    ...indexes.map(({ name, definition }) => ({
      name: String(name),
      drop: `drop index recoup.${name}`,
      restore: String(definition),
    })),
    ...['disable', 'enable', 'enable replica'].map((state) => ({
      name: 'entries_append_only',
      drop: `alter table recoup.entries ${state} trigger entries_append_only`,
      restore: 'alter table recoup.entries enable always trigger entries_append_only',
    })),
  ];
}

onEvery('a guard of the schema that is dropped, or switched off, is named', async (s) => {
  const guards = await guardsOf(s);
  expect(guards.length).toBeGreaterThan(40);
  const unnoticed: string[] = [];
  for (const { name, drop, restore } of guards) {
    await s.db.query(drop);
    const { ok, problems } = await s.recoup.verify();
    if (ok || !problems.some(({ check, detail }) => check === 'schema.guards' && detail.startsWith(`${name}:`)))
      unnoticed.push(drop);
    await s.db.query(restore);
  }
  expect(unnoticed).toEqual([]);
  await s.db.query(
    `alter table recoup.entries drop constraint entries_sign, add constraint entries_sign check (amount is not null) not valid`,
  );
  expect((await s.recoup.verify()).problems.map(({ detail }) => detail)).toEqual([
    expect.stringContaining('entries_sign'),
  ]);
});

onFirst('a clock that somebody replaced is named, unless a test says that it did', async (s) => {
  await s.db.advance(0);
  const { problems } = await s.recoup.verify();
  expect(problems.map(({ detail }) => detail)).toContainEqual(expect.stringContaining('clock()'));
  const tested = await s.recoup.verify({ testClock: true });
  expect(tested.problems.map(({ detail }) => detail)).not.toContainEqual(expect.stringContaining('clock()'));
});

onFirst(
  'what is written while verify runs does not trouble it, and each check names at most as many as it is asked for',
  async (s) => {
    const other = await s.replica();
    let done = false;
    const write = async (recoup: Recoup) => {
      const wallet = await s.wallet(1_000_000);
      for (let i = 0; !done; i++) {
        const jobs = times(20, (n) => ({ wallet, job: `${i} ${n}`, queue: null, price: 1 }));
        await recoup.jobs.submitMany(jobs);
        await recoup.jobs.failMany(jobs.map(({ job }) => ({ wallet, job })));
        await recoup.jobs.succeedMany(jobs.map(({ job }) => ({ wallet, job })));
      }
    };
    const writing = [write(s.recoup), write(other)];
    for (let i = 0; i < 10; i++) {
      const { problems, sumOfEntries, sumOfBalances } = await s.recoup.verify({ testClock: true });
      expect(problems.filter(({ check }) => check !== 'schema.guards')).toEqual([]);
      expect(sumOfEntries).toBe(sumOfBalances);
    }
    done = true;
    await Promise.all(writing);
    await s.db.query(`update recoup.wallets set balance = balance + 1`);
    const { problems } = await s.recoup.verify({ testClock: true, limit: 2 });
    expect(problems.filter(({ check }) => check === 'wallets.last_entry').length).toBe(2);
    await s.db.query(`update recoup.wallets set balance = balance - 1`);
  },
);

onEvery('a schema in another name is verified as well', async (s) => {
  await using recoup = await open({
    connection: s.db.url,
    schema: `own_${newId('x').replace('-', '_')}`,
    migrate: true,
    sweep: false,
  });
  await recoup.wallets.open({ wallet: 'w', customer: 'c' });
  await recoup.wallets.grant({ wallet: 'w', key: 'k', amount: 5 });
  expect(await recoup.verify()).toMatchObject({ ok: true, wallets: 1, entries: 1 });
  await s.db.query(`update ${recoup.schema}.wallets set balance = 6`);
  expect((await recoup.verify()).problems).toMatchObject([{ check: 'wallets.last_entry', wallet: 'w', seq: 1 }]);
});
