// recoup/testing: a database per test, and the clock in your hand.
import pg from 'pg';
import { migrate } from './db/migrate.ts';
import { DEFAULT_SCHEMA } from './db/schema.ts';

export {
  type FlakyOptions,
  type FlakyRates,
  type FlakyRun,
  type FlakyUpstream,
  flakyUpstream,
  type Plan,
  type Refused,
} from './testing/flaky-upstream.ts';

/** A throw-away database with the schema in it. */
export interface TestDatabase extends AsyncDisposable {
  url: string;
  /** Puts the clock at an instant; it stands there until it is moved. */
  setClock(at: Date | string): Promise<void>;
  /** Moves the clock; from now on it stands, unless it stood already. */
  advance(ms: number): Promise<void>;
  /** The clock's instant. */
  now(): Promise<Date>;
  /** Any SQL, for looking or for breaking things. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

const TEMPLATE_LOCK = 724_113_201;
let counter = 0;

/**
 * Makes a database of its own on a server, cloned from a template that is migrated once per server and version of the
 * schema. The role needs the right to create databases.
 */
export async function testDatabase(serverUrl: string): Promise<TestDatabase> {
  const template = await ensureTemplate(serverUrl);
  const name = `recoup_test_${process.pid}_${Date.now().toString(36)}_${counter++}`;
  await withClient(serverUrl, async (client) => {
    // Cloning refuses while another session is cloning from the same template or connected to it.
    await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    await client.query(`create database ${name} template ${template}`);
  });
  const url = withDatabase(serverUrl, name);
  // A statement that runs once is not worth compiling: of a long one that takes seconds.
  const options = '-c jit=off';
  const pool = new pg.Pool({ connectionString: url, options, max: 1, idleTimeoutMillis: 1000, allowExitOnIdle: true });
  pool.on('error', () => {});
  const query = async (text: string, values?: unknown[]) =>
    (await pool.query(text, values as unknown[])).rows as Record<string, unknown>[];
  let inHand: Promise<unknown> | undefined;
  // In one transaction, and each move in one statement: whatever runs meanwhile never finds a database without a clock.
  const takeClock = () => {
    inHand ??= query(`
      create table if not exists ${DEFAULT_SCHEMA}.test_clock (one boolean primary key default true check (one), at timestamptz not null);
      insert into ${DEFAULT_SCHEMA}.test_clock (at) values (now()) on conflict do nothing;
      create or replace function ${DEFAULT_SCHEMA}.clock() returns timestamptz language sql stable
        as 'select at from ${DEFAULT_SCHEMA}.test_clock'`);
    return inHand;
  };
  // As text: a host may have changed how pg parses instants.
  const epoch = `select (extract(epoch from ${DEFAULT_SCHEMA}.clock()) * 1000)::text as ms`;
  const now = async () => new Date(Number((await query(epoch))[0]!.ms));
  const drop = async () => {
    await pool.end().catch(() => {});
    await withClient(serverUrl, (client) => client.query(`drop database if exists ${name} with (force)`));
  };
  return {
    url,
    query,
    now,
    setClock: async (at) => {
      await takeClock();
      const text = typeof at === 'string' ? at : at.toISOString();
      await query(`update ${DEFAULT_SCHEMA}.test_clock set at = $1`, [text]);
    },
    advance: async (ms) => {
      await takeClock();
      await query(`update ${DEFAULT_SCHEMA}.test_clock set at = at + $1 * interval '1 millisecond'`, [ms]);
    },
    drop,
    [Symbol.asyncDispose]: drop,
  };
}

async function ensureTemplate(serverUrl: string): Promise<string> {
  const { migrations } = await import('./db/migrate.ts');
  const version = (await migrations()).map((migration) => migration.checksum).join('');
  const { createHash } = await import('node:crypto');
  const name = `recoup_template_${createHash('sha256').update(version).digest('hex').slice(0, 12)}`;
  await withClient(serverUrl, async (client) => {
    await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rows } = await client.query('select datistemplate from pg_database where datname = $1', [name]);
    if (rows[0]?.datistemplate) return;
    // Left half-made by a process that died: made again.
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query(`create database ${name} template template0 encoding 'UTF8'`);
    await withClient(withDatabase(serverUrl, name), (inside) => migrate(inside, DEFAULT_SCHEMA));
    await client.query(`alter database ${name} is_template true`);
  });
  return name;
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.href;
}
