// The database of the demo: a PostgreSQL of its own, or a throw-away database on the server that DATABASE_URL names.
import pg from 'pg';
import { startEmbedded } from '../embedded/embedded.ts';
import { EmbeddedError } from '../embedded/errors.ts';

export interface DemoDatabase {
  url: string;
  /** What it is, for people. */
  what: string;
  stop(): Promise<void>;
}

export async function openDatabase(
  serverUrl: string | undefined,
  onProgress: (line: string) => void,
): Promise<DemoDatabase> {
  if (serverUrl) return createDatabase(serverUrl);
  const server = await startEmbedded({ throwaway: true, onProgress });
  const what = `PostgreSQL ${server.version} on port ${server.port}, in a folder that is removed at the end`;
  return { url: server.url, what, stop: () => server.stop() };
}

async function createDatabase(serverUrl: string): Promise<DemoDatabase> {
  const name = `recoup_demo_${process.pid}_${Date.now().toString(36)}`;
  const onServer = async (sql: string) => {
    const client = new pg.Client({ connectionString: serverUrl, connectionTimeoutMillis: 10_000 });
    try {
      await client.connect();
      return await client.query(sql);
    } catch (error) {
      const said = error instanceof Error ? error.message || String((error as { code?: unknown }).code) : String(error);
      const rule = 'It must name a PostgreSQL whose role may create databases.';
      throw new EmbeddedError('start_failed', `DATABASE_URL: ${said}. ${rule}`);
    } finally {
      await client.end().catch(() => {});
    }
  };
  await onServer(`create database ${name} template template0 encoding 'UTF8'`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const stop = async () => void (await onServer(`drop database if exists ${name} with (force)`));
  return { url: url.href, what: `the database ${name} on ${url.host}, which is dropped at the end`, stop };
}
