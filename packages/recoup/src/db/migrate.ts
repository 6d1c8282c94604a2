// Forward-only migrations: numbered SQL files applied once, in order, by whichever of many starting replicas is first.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { InvalidInput, Refusal } from '../errors.ts';
import type { Queryable } from './database.ts';
import { openEpochIfDue } from './epochs.ts';
import { asRefusal } from './failures.ts';
import { inSchema, isSchemaName, quoted, SCHEMA_RULE } from './schema.ts';

/**
 * The oldest code that may run beside each migration's schema, by the number of the newest migration that code knows.
 * A migration that only adds keeps its predecessor's; one that old code could break against raises it to its own number.
 */
const COMPATIBLE_FROM: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 1, 4: 1 };

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

/** Refuses a schema this code cannot work on: absent, older, or newer and no longer compatible. */
export function checkState(state: SchemaState, schema: string): void {
  const facts = { schema, applied: state.applied, known: state.known };
  if (state.applied === 0) throw new Refusal('schema_missing', undefined, facts);
  if (state.applied < state.known) throw new Refusal('schema_behind', undefined, facts);
  if (state.compatibleFrom > state.known) throw new Refusal('schema_ahead', undefined, facts);
}

/**
 * Applies what is missing in one transaction. Safe under many starting replicas: the transaction holds an advisory lock
 * (a transaction's, since a session's is granted twice behind a transaction-mode pooler), the losers find it done.
 * Needs the right to create the schema, or a schema that the role owns. Opens the next epoch where a restore or a failover
 * makes one due. Returns the names of the applied migrations.
 */
export async function migrate(client: Queryable, schema: string, upTo = Number.POSITIVE_INFINITY): Promise<string[]> {
  if (!isSchemaName(schema)) {
    throw new InvalidInput('schema', SCHEMA_RULE);
  }
  const all = await migrations();
  try {
    // Whoever comes second waits for as long as the first one takes.
    await client.query('begin', []);
    await client.query('set local lock_timeout = 0', []);
    const done = await applyMissing(
      client,
      schema,
      all.filter((m) => m.number <= upTo),
    );
    await openEpochIfDue(client, schema);
    await client.query('commit', []);
    return done;
  } catch (error) {
    await Promise.resolve(client.query('rollback', [])).catch(() => {});
    throw asRefusal(error, false);
  }
}

async function applyMissing(client: Queryable, schema: string, known: Migration[]): Promise<string[]> {
  const [server] = rowsOf(await client.query(`select current_setting('server_version_num') as version`, []));
  if (Number(server?.version) < 150000) throw new Refusal('server_too_old', undefined, { version: server?.version });
  const [encoding] = rowsOf(await client.query(`select current_setting('server_encoding') as name`, []));
  if (encoding?.name !== 'UTF8') throw new Refusal('not_utf8', undefined, { encoding: encoding?.name });
  await client.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [`recoup.migrate.${schema}`]);
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
