// Reads postmaster.pid, the one lock on a data directory, and clears it where it names a process that is not its own.
import { link, readFile, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno } from './errors.ts';
import { temporaryName } from './names.ts';
import { identifyPostgres, type ProcessId } from './processes.ts';

export interface Server extends ProcessId {
  readonly port: number;
  /** Nothing at first, then 'starting', 'ready', 'standby', 'stopping'. */
  readonly status: string;
}

/**
 * The living postmaster of this data directory. The lock of a dead one is cleared here. PostgreSQL would give way to a
 * zombie or a recycled pid; and where the new server gets the pid of the dead one, which is usual in a container, the
 * old lock would pass for the new server's own for a moment, and call it ready.
 */
export async function findServer(data: string): Promise<Server | undefined> {
  const text = await readLock(data);
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) {
    if (await isOld(data)) await clearLock(data, text);
    return undefined;
  }
  const id = await identifyPostgres(pid, data, Number(lines[2]));
  if (id) return { ...id, port: Number(lines[3]), status: (lines[7] ?? '').trim() };
  await clearLock(data, text);
  return undefined;
}

async function readLock(data: string): Promise<string | undefined> {
  return readFile(join(data, 'postmaster.pid'), 'utf8').catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  });
}

/** An empty lock is one being written, or one that a full disk left empty. */
async function isOld(data: string): Promise<boolean> {
  const { mtimeMs } = await stat(join(data, 'postmaster.pid'));
  return Date.now() - mtimeMs > 10_000;
}

/**
 * Moves the file aside and then looks at it once more: between reading and removing, another start may have cleared the
 * same lock and its PostgreSQL written a new one, which goes back to its place then.
 */
async function clearLock(data: string, judged: string): Promise<void> {
  if ((await readLock(data)) !== judged) return;
  const aside = await temporaryName(join(dirname(data), 'postmaster.pid'));
  try {
    await rename(join(data, 'postmaster.pid'), aside);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return;
    throw error;
  }
  if ((await readFile(aside, 'utf8')) !== judged) {
    await link(aside, join(data, 'postmaster.pid')).catch((error: unknown) => {
      if (!isErrno(error, 'EEXIST')) throw error;
    });
  }
  await unlink(aside);
}
