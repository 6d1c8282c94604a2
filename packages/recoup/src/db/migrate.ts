// Forward-only migrations: numbered SQL files applied once, in order, by whichever of many starting replicas is first.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidInput, Refusal } from '../errors.ts';
import type { Queryable } from './database.ts';
import { openEpochIfDue } from './epochs.ts';
import { asRefusal, kindOf } from './failures.ts';
import { inSchema, isSchemaName, quoted, SCHEMA_RULE } from './schema.ts';

/**
 * The oldest code that may run beside each migration's schema, by the number of the newest migration that code knows.
 * A migration that only adds keeps its predecessor's; one that old code could break against raises it to its own number.
 */
const COMPATIBLE_FROM: Readonly<Record<number, number>> = {
  ...{ 1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 9: 1, 10: 1, 11: 1, 12: 1, 13: 1, 14: 1 },
};

export interface Migration {
  number: number;
  name: string;
  sql: string;
  checksum: string;
}

export interface SchemaState {
  /** Newest migration applied; 0 where the schema is not there. */
  applied: number;
  /** Newest migration this code carries. */
  known: number;
  /** Oldest code (by the newest migration it carries) that may work on the schema as it is. */
  compatibleFrom: number;
}

/** The migrations this code carries, in order. */
export async function migrations(): Promise<Migration[]> {
  const folder = new URL('../../migrations/', import.meta.url);
  const names = (await readdir(folder)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      const checksum = createHash('sha256').update(sql.replaceAll('\r\n', '\n')).digest('hex');
      return { number: Number(name.slice(0, 4)), name: name.slice(0, -4), sql, checksum };
    }),
  );
}

// Everything is read as text: how other types arrive depends on the driver and on what the host made of it.
const rowsOf = (result: unknown): Record<string, unknown>[] =>
  (Array.isArray(result) ? result : (result as { rows: [] }).rows) as Record<string, unknown>[];

/** How far the schema is; reads only. */
export async function schemaState(client: Queryable, schema: string): Promise<SchemaState> {
  const known = (await migrations()).at(-1)?.number ?? 0;
  const there = rowsOf(await client.query(`select to_regclass($1)::text as there`, [`${quoted(schema)}.migrations`]));
  if (!there[0]?.there) return { applied: 0, known, compatibleFrom: 0 };
  const sql = `select max(number)::text as applied, max(compatible_from)::text as compatible_from from recoup.migrations`;
  const [row] = rowsOf(await client.query(inSchema(sql, schema), []));
  return { applied: Number(row?.applied ?? 0), known, compatibleFrom: Number(row?.compatible_from ?? 0) };
}

/** The names of the migrations that `migrate` would apply now; reads only. */
export async function pendingMigrations(client: Queryable, schema: string): Promise<string[]> {
  const [all, { applied }] = [await migrations(), await schemaState(client, schema)];
  return all.filter(({ number }) => number > applied).map(({ name }) => name);
}

/** Refuses a schema this code cannot work on: absent, older, or newer and no longer compatible. */
export function checkState(state: SchemaState, schema: string): void {
  const facts = { schema, applied: state.applied, known: state.known };
  if (state.applied === 0) throw new Refusal('schema_missing', undefined, facts);
  if (state.applied < state.known) throw new Refusal('schema_behind', undefined, facts);
  if (state.compatibleFrom > state.known) throw new Refusal('schema_ahead', undefined, facts);
}

/**
 * How long a migration may wait for a table, in ms. While it waits, everything that comes after it waits too, so it
 * stands back and tries again: a report that reads for an hour must not stop the service for an hour.
 */
const STAND_MS = 1000;
const MAX_PAUSE_MS = 10_000;

export interface MigrateOptions {
  /** The newest migration to apply; all of them unless set. */
  upTo?: number;
  /** How long to go on trying while somebody holds a table, in ms; a minute unless set. */
  patienceMs?: number;
}

/**
 * Applies what is missing in one transaction, so that one that is cut off leaves the version of before. Safe under many
 * starting replicas and beside those that work. Needs the right to create the schema, or a schema that the role owns.
 * Opens the next epoch where a restore or a failover makes one due. Returns the names of the applied migrations. Refuses
 * `migration_blocked` where a transaction held a table all the time.
 */
export async function migrate(client: Queryable, schema: string, options: MigrateOptions = {}): Promise<string[]> {
  if (!isSchemaName(schema)) {
    throw new InvalidInput('schema', SCHEMA_RULE);
  }
  const { upTo = Number.POSITIVE_INFINITY, patienceMs = 60_000 } = options;
  const known = (await migrations()).filter((m) => m.number <= upTo);
  const end = performance.now() + patienceMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await migrateOnce(client, schema, known);
    } catch (error) {
      await Promise.resolve(client.query('rollback', [])).catch(() => {});
      if (!['locked', 'race'].includes(kindOf(error))) throw asRefusal(error, false);
      if (performance.now() >= end) throw await blocked(client, schema, error);
      // A little later each time, and not all replicas at once.
      await sleep(Math.min(STAND_MS * attempt, MAX_PAUSE_MS, end - performance.now()) * (0.5 + Math.random() / 2));
    }
  }
}

/**
 * The lock is a transaction's, since a session's is granted twice behind a transaction-mode pooler. Whoever comes second
 * waits for as long as the first one takes, and finds it done.
 */
async function migrateOnce(client: Queryable, schema: string, known: Migration[]): Promise<string[]> {
  await client.query('begin isolation level read committed', []);
  await client.query('set local lock_timeout = 0', []);
  await client.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [`recoup.migrate.${schema}`]);
  await client.query(`set local lock_timeout = ${STAND_MS}`, []);
  const done = await applyMissing(client, schema, known);
  await openEpochIfDue(client, schema);
  await client.query('commit', []);
  return done;
}

const HOLDERS = `select l.pid::text as pid, coalesce(extract(epoch from clock_timestamp() - a.xact_start)::int, 0)::text as seconds
  from pg_locks l left join pg_stat_activity a on a.pid = l.pid
  where l.relation in (select oid from pg_class where relnamespace = to_regnamespace($1)) and l.granted
    and l.database = (select oid from pg_database where datname = current_database()) and l.pid is distinct from pg_backend_pid()
  group by 1, 2 order by extract(epoch from min(a.xact_start)) nulls first limit 3`;

/** The refusal, with the transactions that have held tables of the schema for longest. */
async function blocked(client: Queryable, schema: string, cause: unknown): Promise<Refusal> {
  const held = await Promise.resolve(client.query(HOLDERS, [quoted(schema)])).catch(() => []);
  // Without a process: a transaction that was prepared and is still to be ended (pg_prepared_xacts).
  const holders = rowsOf(held).map(({ pid, seconds }) => ({ pid: pid && Number(pid), seconds: Number(seconds) }));
  const named = holders.map(({ pid, seconds }) => `process ${pid ?? 'none, prepared'}, open for ${seconds} s`);
  const message = `A table that a migration changes stayed held: ${named.join('; ') || 'by nobody that can be seen'}.`;
  return new Refusal('migration_blocked', message, { schema, holders }, { cause });
}

async function applyMissing(client: Queryable, schema: string, known: Migration[]): Promise<string[]> {
  const [server] = rowsOf(await client.query(`select current_setting('server_version_num') as version`, []));
  if (Number(server?.version) < 150000) throw new Refusal('server_too_old', undefined, { version: server?.version });
  const [encoding] = rowsOf(await client.query(`select current_setting('server_encoding') as name`, []));
  if (encoding?.name !== 'UTF8') throw new Refusal('not_utf8', undefined, { encoding: encoding?.name });
  const there = rowsOf(await client.query(`select to_regnamespace($1)::text as there`, [quoted(schema)]));
  if (!there[0]?.there) await client.query(`create schema ${quoted(schema)}`, []);
  const table = `create table if not exists recoup.migrations (
    number int primary key, name text not null, checksum text not null, compatible_from int not null,
    applied_at timestamptz not null default now())`;
  const state = await schemaState(client, schema);
  if (state.applied === 0) await client.query(inSchema(table, schema), []);
  const applied = rowsOf(
    await client.query(inSchema('select number::text, checksum from recoup.migrations', schema), []),
  );
  const checksums = new Map(applied.map((row) => [Number(row.number), String(row.checksum)]));
  if (state.compatibleFrom > state.known) checkState(state, schema);
  const done: string[] = [];
  for (const migration of known) {
    const before = checksums.get(migration.number);
    if (before !== undefined && before !== migration.checksum) {
      throw new Refusal('schema_altered', undefined, { schema, migration: migration.name });
    }
    if (before !== undefined) continue;
    await client.query(inSchema(migration.sql, schema), []);
    const insert = `insert into recoup.migrations (number, name, checksum, compatible_from) values ($1, $2, $3, $4)`;
    const compatibleFrom = COMPATIBLE_FROM[migration.number] ?? migration.number;
    await client.query(inSchema(insert, schema), [
      migration.number,
      migration.name,
      migration.checksum,
      compatibleFrom,
    ]);
    done.push(migration.name);
  }
  return done;
}
