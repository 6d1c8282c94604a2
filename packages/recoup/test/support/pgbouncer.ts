// PgBouncer in transaction mode before a server, on machines that have it.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Pooler } from './transaction-pooler.ts';

const binary = [
  '/usr/sbin/pgbouncer',
  '/usr/bin/pgbouncer',
  '/usr/local/bin/pgbouncer',
  '/opt/homebrew/bin/pgbouncer',
].find((path) => existsSync(path));

/** Whether this machine has PgBouncer. */
export const hasPgBouncer = binary !== undefined;

/** Starts it for one database with `connections` to the server. */
export async function startPgBouncer(databaseUrl: string, connections: number): Promise<Pooler> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const folder = mkdtempSync(join(tmpdir(), 'recoup-pgbouncer-'));
  const listenPort = await freePort();
  const users = join(folder, 'users.txt');
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`);
  const config = join(folder, 'pgbouncer.ini');
  writeFileSync(
    config,
    [
      '[databases]',
      `* = host=${hostname} port=${port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${listenPort}`,
      'unix_socket_dir =',
      'auth_type = plain',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      `default_pool_size = ${connections}`,
      'max_client_conn = 200',
    ].join('\n'),
  );
  // It refuses to run as root, and another user has to read its files.
  for (const [path, mode] of [
    [folder, 0o755],
    [users, 0o644],
    [config, 0o644],
  ] as const)
    chmodSync(path, mode);
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const child = spawn(binary!, [config], { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
  // A test that fails before it stops it leaves nothing running.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk;
  });
  const url = `postgres://${username}:${password}@127.0.0.1:${listenPort}${pathname}`;
  await answering(url, child, () => log);
  return {
    url,
    async stop() {
      const ended = new Promise((done) => child.once('exit', done));
      // Newer ones wait for their clients at SIGTERM.
      kill();
      await ended;
      process.off('exit', kill);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answering(url: string, child: ChildProcess, log: () => string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${log()}`);
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address ? address.port : 0;
}
