// Connects to the embedded server as its superuser: for its URL, for its database and for the moment of adoption.
import pg from 'pg';
import { readPassword, superuser } from './cluster.ts';

export interface Target {
  readonly data: string;
  readonly port: number;
  readonly database: string;
}

export async function databaseUrl(target: Target): Promise<string> {
  const password = await readPassword(target.data);
  const user = password === undefined ? superuser : `${superuser}:${encodeURIComponent(password)}`;
  return `postgres://${user}@127.0.0.1:${target.port}/${encodeURIComponent(target.database)}`;
}

export async function connect(target: Target): Promise<pg.Client> {
  const connectionString = await databaseUrl(target);
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 30_000 });
  // An idle connection that is cut off would otherwise end the process; the next query fails by itself.
  client.on('error', () => {});
  await client.connect();
  return client;
}

export async function ensureDatabase(target: Target): Promise<void> {
  const client = await connect({ ...target, database: 'postgres' });
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [target.database]);
    if (rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(target.database)}`);
  } finally {
    await client.end();
  }
}
