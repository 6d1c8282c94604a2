// Starts a postgres on a data directory, waits until it answers, and stops one.
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Binaries, program } from './binaries.ts';
import { EmbeddedError, fromOutput, isErrno } from './errors.ts';
import type { Place } from './folders.ts';
import { findServer, type Server } from './lock.ts';
import { ownerSetting, recordOwner } from './owner.ts';
import { ended, isAlive, type ProcessId } from './processes.ts';
import { asAccount, run } from './run.ts';

export interface Plan {
  readonly place: Place;
  readonly binaries: Binaries;
  readonly data: string;
  readonly port: number;
  readonly owner: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** 'locked': another postgres has the data, or the children of a dead one do. 'port': something else has the port. */
export type Launched = Server | 'locked' | 'port';

/** The later setting wins: what keeps the server private, findable and readable is not open to `settings`. */
export function serverArguments(plan: Omit<Plan, 'place' | 'binaries'>): string[] {
  const settings = {
    log_checkpoints: 'off',
    // Without errors: refusals by a constraint are daily business, and their lines would hold people's content.
    log_min_messages: 'log',
    ...plan.settings,
    port: String(plan.port),
    listen_addresses: '127.0.0.1',
    // The path of a socket may have about 100 bytes, and a folder of somebody's project may well have more.
    unix_socket_directories: '',
    log_destination: 'stderr',
    logging_collector: 'off',
    log_line_prefix: '%m [%p] ',
    [ownerSetting]: plan.owner,
  };
  const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', plan.data, ...given];
}

export async function launch(plan: Plan): Promise<Launched> {
  const log = await openLog(dirname(plan.data), plan.place);
  try {
    const { size } = await log.stat();
    const child = spawn(program(plan.binaries.binDir, 'postgres'), serverArguments(plan), {
      ...asAccount(plan.place.account),
      // In a session of its own: otherwise Ctrl-C stops PostgreSQL before this process has finished with it.
      detached: true,
      // A file and no pipe: the server may outlive this process.
      stdio: ['ignore', log.fd, log.fd],
      windowsHide: true,
    });
    child.unref();
    try {
      const server = await ready(child, plan.data);
      if (!server) return await judgeExit(log, size, child.pid!, plan);
      await recordOwner(plan.data, server);
      return server;
    } catch (error) {
      child.kill('SIGQUIT');
      throw error;
    }
  } finally {
    await log.close();
  }
}

/** The server once it answers, or nothing if it has ended instead. */
async function ready(child: ChildProcess, data: string): Promise<Server | undefined> {
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  for (;;) {
    if (failure) throw failure;
    const server = child.pid === undefined ? undefined : await findServer(data);
    if (server && server.pid === child.pid && server.status === 'ready') return server;
    if (child.exitCode !== null || child.signalCode !== null) return undefined;
    await sleep(20);
  }
}

async function judgeExit(log: FileHandle, from: number, pid: number, plan: Plan): Promise<'locked' | 'port'> {
  const { size } = await log.stat();
  const { buffer } = await log.read({ buffer: Buffer.alloc(Math.max(0, size - from)), position: from });
  // Another start may write to the same log: only lines of this process count, and those before there is a prefix.
  const lines = buffer.toString().split('\n');
  const said = lines.filter((line) => line.includes(` [${pid}] `) || !/^\d{4}-\d\d-\d\d .* \[\d+\] /.test(line));
  const output = said.join('\n');
  if (/lock file ".*" already exists|lock file ".*" is empty|pre-existing shared memory block/.test(output)) {
    return 'locked';
  }
  if (/could not bind .*: Permission denied/.test(output)) {
    const text = `PostgreSQL's user may not listen on port ${plan.port}: ask for one above 1023.`;
    throw new EmbeddedError('permission_denied', text);
  }
  if (/could not create any TCP\/IP sockets/.test(output)) return 'port';
  throw fromOutput(output, `Starting PostgreSQL on ${plan.data}`);
}

/** Never through a link: root opens it, and the folder belongs to PostgreSQL's user. */
async function openLog(folder: string, { account }: Place): Promise<FileHandle> {
  const path = join(folder, 'postgres.log');
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  const log = await open(path, flags, 0o600);
  const { size, nlink } = await log.stat();
  // Given to the user of the folder, who may start Recoup without root the next time.
  if (account && nlink === 1) await log.chown(account.uid, account.gid);
  if (size < 10_000_000) return log;
  await log.close();
  await rename(path, `${path}.1`).catch((error: unknown) => {
    if (!isErrno(error, 'ENOENT')) throw error;
  });
  return open(path, flags, 0o600);
}

/**
 * 'fast' ends connections and writes everything out; 'immediate' leaves that to the next start. A fast stop that takes
 * longer than a minute becomes an immediate one, which loses nothing either.
 */
export async function stopServer(server: ProcessId, mode: 'fast' | 'immediate', plan: Plan): Promise<void> {
  if (mode === 'fast' && (await stopOnce(server, 'fast', plan, 60_000))) return;
  if (await stopOnce(server, 'immediate', plan, 20_000)) return;
  throw new EmbeddedError('stop_failed', `PostgreSQL (process ${server.pid}) does not stop.`);
}

async function stopOnce(server: ProcessId, mode: 'fast' | 'immediate', plan: Plan, limitMs: number): Promise<boolean> {
  if (!(await isAlive(server))) return true;
  if (process.platform === 'win32') {
    // There, a signal from Node ends a process without asking it.
    await run(program(plan.binaries.binDir, 'pg_ctl'), ['stop', '-D', plan.data, '-m', mode, '-W']);
  } else {
    try {
      process.kill(server.pid, mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    } catch (error) {
      if (isErrno(error, 'ESRCH')) return true;
      const text = `This user may not stop PostgreSQL (process ${server.pid}), which runs as another user.`;
      if (isErrno(error, 'EPERM')) throw new EmbeddedError('permission_denied', text);
      throw error;
    }
  }
  return ended(server, limitMs);
}
