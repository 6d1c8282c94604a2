// Commands about the database itself: migrate, verify, doctor.
import pg from 'pg';
import {
  checkGrantee,
  epochState,
  errors,
  grantTo,
  migrate,
  open,
  pendingMigrations,
  Refusal,
  type SchemaState,
  schemaState,
} from 'recoup';
import type { Output } from './output.ts';
import type { Settings } from './settings.ts';
import { database } from './target.ts';

async function withClient<T>(settings: Settings, output: Output, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const { url, stop } = await database(settings, output);
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
    await stop();
  }
}

/**
 * The names of the migrations that were applied; with `dryRun` those that would be, and nothing is changed. `grantTo` names
 * the role that serves: looked for before anything is applied.
 */
export function runMigrate(
  settings: Settings,
  output: Output,
  { dryRun = false, grantTo: role }: { dryRun?: boolean; grantTo?: string },
): Promise<{ applied?: string[]; wouldApply?: string[]; state: SchemaState; grantedTo?: string }> {
  return withClient(settings, output, async (client) => {
    const schema = settings.schema!;
    if (role !== undefined) await checkGrantee(client, schema, role);
    if (dryRun) {
      return { wouldApply: await pendingMigrations(client, schema), state: await schemaState(client, schema) };
    }
    const applied = await migrate(client, schema);
    if (role !== undefined) await grantTo(client, schema, role);
    const state = await schemaState(client, schema);
    return { applied, state, ...(role === undefined ? {} : { grantedTo: role }) };
  });
}

export async function runVerify(settings: Settings, output: Output, limit: number | undefined) {
  const { url, stop } = await database(settings, output);
  try {
    const recoup = await open({ connection: url, schema: settings.schema!, pooler: settings.pooler!, sweep: false });
    try {
      const onProgress = (check: string, done: number, of: number) => output.err(`${done}/${of} ${check}`);
      return await recoup.verify({ onProgress, ...(limit === undefined ? {} : { limit }) });
    } finally {
      await recoup.close();
    }
  } finally {
    await stop();
  }
}

export interface Finding extends Record<string, unknown> {
  check: string;
  state: 'ok' | 'warning' | 'wrong';
  found: string;
  advice: string;
}

const RIGHTS = `select has_schema_privilege($1, 'usage') as usage, has_table_privilege($1 || '.wallets', 'update')
  and has_column_privilege($1 || '.entries', 'amount', 'insert') and has_table_privilege($1 || '.jobs', 'delete') as writes`;
const OLDEST = `select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float as seconds
  from pg_stat_activity where backend_xmin is not null and datname = current_database() and pid <> pg_backend_pid()`;

/** Looks at what must be right before Recoup can run, and at what makes it slow. */
export function runDoctor(settings: Settings, output: Output): Promise<Finding[]> {
  return withClient(settings, output, async (client) => {
    const schema = settings.schema!;
    const findings: Finding[] = [];
    const add = (check: string, ok: boolean, found: string, advice: string, state: Finding['state'] = 'wrong') =>
      findings.push({ check, state: ok ? 'ok' : state, found, advice: ok ? '' : advice });
    const one = async (sql: string, values: unknown[] = []) => (await client.query(sql, values)).rows[0];
    const server = await one(
      `select current_setting('server_version_num')::int as number, version() as text, pg_is_in_recovery() as standby`,
    );
    add('PostgreSQL', server.number >= 150_000, String(server.text).split(' on ')[0]!, errors.server_too_old.sentence);
    add('writable', !server.standby, server.standby ? 'a standby' : 'the primary', errors.database_read_only.sentence);
    const state = await schemaState(client, schema);
    const fits = state.applied >= state.known && state.compatibleFrom <= state.known;
    add('schema', fits, `${schema}: migration ${state.applied}, this code knows ${state.known}`, 'recoup migrate');
    if (state.applied > 0) {
      const rights = await one(RIGHTS, [schema]);
      add(
        'rights',
        rights.usage && rights.writes,
        `${client.user}`,
        `as the role that owns the schema: recoup migrate --grant-to ${client.user}`,
      );
    }
    const epoch = await epochState(client, schema);
    if (epoch) {
      const found = `${epoch.number}, ${epoch.reason}`;
      add('epoch', epoch.due === null, found, epoch.due ?? '', epoch.behind ? 'wrong' : 'warning');
    }
    const encoding = (await one('show server_encoding')).server_encoding;
    add('encoding', encoding === 'UTF8', encoding, 'create the database with encoding UTF8');
    const durable = (await one('show synchronous_commit')).synchronous_commit;
    add(
      'durability',
      durable !== 'off',
      `synchronous_commit ${durable}`,
      'off loses acknowledged charges in a crash: set it on',
      'warning',
    );
    if (settings.pooler) {
      const { jit } = await one('show jit');
      const cure = `nothing can be set on a session behind a pooler: alter role ${client.user} set jit = off`;
      add('jit', jit === 'off', jit, cure, 'warning');
    }
    const { seconds } = await one(OLDEST);
    add(
      'oldest transaction',
      seconds < 300,
      `${Math.round(seconds)} s`,
      'it holds the feed back and keeps dead rows: end it',
      'warning',
    );
    return findings;
  });
}

/** Refuses where something is wrong, so that the exit code says it. */
export function refuseWrong(findings: readonly Finding[]): void {
  const wrong = findings.filter(({ state }) => state === 'wrong').map(({ check }) => check);
  if (wrong.length > 0) throw new Refusal('unhealthy', `Wrong: ${wrong.join(', ')}.`);
}
