// Temporary names that say whose they are, so that the next start can remove what a killed process left half-made.
import { randomBytes } from 'node:crypto';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from './account.ts';
import { formatId, isAlive, parseId, thisProcess } from './processes.ts';
import { run } from './run.ts';

/**
 * <base>.<pid>.<start of that process>.<random>. The pid alone would not do: in a container every run has pid 1, and
 * two threads of one process may be at it at once.
 */
export async function temporaryName(base: string): Promise<string> {
  return `${base}.${formatId(await thisProcess())}.${randomBytes(3).toString('hex')}`;
}

export function isTemporary(name: string): boolean {
  return makerOf(name) !== undefined;
}

function makerOf(name: string) {
  const found = /\.(\d+\.[\w-]+)\.[0-9a-f]{6}$/.exec(name);
  return found ? parseId(found[1]!) : undefined;
}

/** Removes what dead processes left in this folder under temporary names. */
export async function removeLeftovers(folder: string, account?: Account): Promise<void> {
  for (const name of await readdir(folder)) {
    const maker = makerOf(name);
    if (maker && !(await isAlive(maker))) await removeAll(join(folder, name), account);
  }
}

/**
 * Root removes a folder of another user as that user, who could otherwise lead it elsewhere with a link meanwhile.
 * Again and again, because an initdb whose parent was killed may still be writing; once the top is gone it gives up.
 */
export async function removeAll(path: string, account?: Account): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (account) await run('rm', ['-rf', '--', path], account);
    else await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    if (!(await exists(path))) return;
    await sleep(50);
  }
  throw new Error(`${path} could not be removed`);
}

export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
