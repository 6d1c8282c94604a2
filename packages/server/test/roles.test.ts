// Two roles without superuser: one owns the schema and migrates, the other serves everything and can rewrite nothing.
import pg from 'pg';
import { grantTo } from 'recoup';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { FILLED_BY_DEFAULT, RIGHTS } from '../../recoup/src/db/grants.ts';
import { Api } from './support/api.ts';
import { cli } from './support/cli.ts';
import { callEvery, WEBHOOK_SECRET } from './support/every-operation.ts';

describe.each(inject('servers'))('$name', ({ url }) => {
  const suffix = `${process.pid}_${Date.now().toString(36)}`;
  const [owner, app] = [`recoup_owner_${suffix}`, `recoup_app_${suffix}`];
  const database = `roles_${suffix}`;
  const as = (role: string | undefined, name = database) => {
    const of = new URL(url);
    of.pathname = `/${name}`;
    if (role !== undefined) [of.username, of.password] = [role, 'secret'];
    return of.href;
  };
  const run = async (role: string | undefined, sql: string, name = database) => {
    const client = new pg.Client({ connectionString: as(role, name) });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  const base = decodeURIComponent(new URL(url).pathname.slice(1));

  beforeAll(async () => {
    for (const role of [owner, app]) {
      await run(undefined, `create role ${role} login password 'secret' nosuperuser nocreatedb nocreaterole`, base);
    }
    await run(undefined, `create database ${database}`, base);
    await run(undefined, `grant create on database ${database} to ${owner}`, base);
  });
  afterAll(async () => {
    await run(undefined, `drop database ${database} with (force)`, base);
    await run(undefined, `drop role ${owner}, ${app}`, base);
  });

  test('the owner opens an epoch, as far as it has given up rights of its own', async () => {
    await cli(['migrate'], { DATABASE_URL: as(owner) });
    const opened = await cli(['--json', 'epochs', 'open', '--reason', 'restored'], { DATABASE_URL: as(owner) });
    expect([opened.code, opened.err]).toMatchObject([0, expect.anything()]);
    expect(JSON.parse(opened.out)).toMatchObject({ reason: 'restored' });
  });

  test('the owner migrates and grants, in one command, as often as one likes', async () => {
    const before = await cli(['doctor'], { DATABASE_URL: as(app) });
    expect(before.code).not.toBe(0);
    for (const round of [1, 2]) {
      const { code, out } = await cli(['--json', 'migrate', '--grant-to', app], { DATABASE_URL: as(owner) });
      expect(code, out).toBe(0);
      expect(JSON.parse(out)).toMatchObject({ grantedTo: app, applied: round === 1 ? expect.any(Array) : [] });
    }
    expect(await cli(['doctor'], { DATABASE_URL: as(app) })).toMatchObject({ code: 0 });
  });

  test('every table has its line, and the role has exactly those rights', async () => {
    const rows = await run(
      undefined,
      `select c.relname as name, array(select p from unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) p
         where has_table_privilege('${app}', c.oid, p) or p = 'insert' and has_any_column_privilege('${app}', c.oid, p)) as rights
       from pg_class c where c.relnamespace = 'recoup'::regnamespace and c.relkind = 'r'`,
    );
    expect(Object.fromEntries(rows.map(({ name, rights }) => [name, rights.join(', ')]))).toEqual(RIGHTS);
    const withheld = await run(
      undefined,
      `select c.relname as name, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.relnamespace = 'recoup'::regnamespace and c.relkind = 'r'
         and has_any_column_privilege('${app}', c.oid, 'insert') and not has_column_privilege('${app}', c.oid, a.attnum, 'insert')`,
    );
    expect(Object.fromEntries(withheld.map(({ name, column }) => [name, column]))).toEqual(FILLED_BY_DEFAULT);
    expect(withheld).toHaveLength(Object.keys(FILLED_BY_DEFAULT).length);
  });

  test('a column that a later release adds is granted with it; the position never is', async () => {
    const asOwner = (sql: string) => run(owner, sql);
    await asOwner('alter table recoup.entries add column "a new One" int');
    const may = async () => {
      const sql = `select has_column_privilege('${app}', 'recoup.entries', 'a new One', 'insert') as new,
        has_column_privilege('${app}', 'recoup.entries', 'tx', 'insert') as tx`;
      return (await run(undefined, sql))[0];
    };
    expect(await may()).toEqual({ new: false, tx: false });
    // What an earlier release granted is narrowed.
    await asOwner(`grant insert on recoup.entries to ${app}`);
    expect(await may()).toEqual({ new: true, tx: true });
    expect(await cli(['migrate', '--grant-to', app], { DATABASE_URL: as(owner) })).toMatchObject({ code: 0 });
    expect(await may()).toEqual({ new: true, tx: false });
    await asOwner('alter table recoup.entries drop column "a new One"');
    await cli(['migrate', '--grant-to', app], { DATABASE_URL: as(owner) });
  });

  test('the role that serves does every operation, sweeps and prunes', async () => {
    const service = await Api.replica(
      { url: as(app) },
      {
        open: { connection: as(app), migrate: true, sweep: true, pollMs: 50 },
        webhookSecrets: { generic: [WEBHOOK_SECRET] },
      },
    );
    const api = Api.over(service);
    await callEvery(api, 'content');
    expect(await service.recoup.sweep()).toMatchObject({ failed: 0 });
    expect(await service.recoup.jobs.prune({ olderThanMs: 0 })).toBeGreaterThan(0);
    expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(/^recoup_database_up 1$/m);
    expect((await service.recoup.verify()).problems).toEqual([]);
    await service.close();
  });

  test.each([
    'update recoup.entries set amount = 0',
    'delete from recoup.entries',
    'truncate recoup.entries',
    'alter table recoup.entries disable trigger entries_append_only',
    'alter table recoup.entries disable trigger all',
    'drop trigger entries_append_only on recoup.entries',
    'alter table recoup.entries drop constraint entries_sign',
    'drop table recoup.entries',
    'create or replace function recoup.clock() returns timestamptz language sql as $$ select now() $$',
    'create table recoup.mine (x int)',
    'grant update on recoup.entries to current_user',
    `insert into recoup.entries (wallet_id, seq, type, amount, balance, key, created_at, tx) values ('w', 1, 'grant', 1, 1, 'k', now(), '1')`,
    `insert into recoup.attempts (wallet_id, job_id, attempt, ended_as, job_state, ended_at, tx)
       values ('w', 'j', 1, 'released', 'queued', now(), '9223372036854775807')`,
    'delete from recoup.wallets',
    'truncate recoup.jobs',
    'delete from recoup.migrations',
    `set session_replication_role = replica`,
    `set role ${owner}`,
  ])('it may not: %s', async (sql) => {
    // A grant of what one does not hold is a warning only: what counts is that nothing came of it.
    if (sql.startsWith('grant')) await run(app, sql).catch(() => {});
    else await expect(run(app, sql)).rejects.toMatchObject({ code: '42501' });
    await expect(run(app, 'update recoup.entries set amount = 0')).rejects.toMatchObject({ code: '42501' });
  });

  test('what was too much is taken back', async () => {
    await run(owner, `grant all on recoup.jobs to ${app}; grant create on schema recoup to ${app}`);
    await cli(['migrate', '--grant-to', app], { DATABASE_URL: as(owner) });
    await expect(run(app, 'truncate recoup.jobs')).rejects.toMatchObject({ code: '42501' });
    await expect(run(app, 'create table recoup.mine (x int)')).rejects.toMatchObject({ code: '42501' });
  });

  test('with migrate off a schema that is behind is refused; the role could not bring it up', async () => {
    await run(owner, 'delete from recoup.migrations where number = (select max(number) from recoup.migrations)');
    const open = { connection: as(app), migrate: false, sweep: false };
    await expect(Api.replica({ url: as(app) }, { open })).rejects.toMatchObject({ code: 'schema_behind' });
    await expect(Api.replica({ url: as(app) }, { open: { ...open, migrate: true } })).rejects.toMatchObject({
      code: 'database_refused',
    });
  });

  test('a role that is none, that owns the schema or is a superuser is refused', async () => {
    const client = new pg.Client({ connectionString: as(undefined) });
    await client.connect();
    for (const [role, says] of [
      ['nobody"; drop table x; --', 'must name a role'],
      [owner, 'owns the schema'],
      [client.user!, 'superuser'],
    ] as const) {
      await expect(grantTo(client, 'recoup', role), role).rejects.toThrow(says);
    }
    await client.end();
  });
});
