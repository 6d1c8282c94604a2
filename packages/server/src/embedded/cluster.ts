// Makes the data directory with initdb, whole or not at all, and knows the password that was made with it.
import { randomBytes } from 'node:crypto';
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Binaries, program } from './binaries.ts';
import { EmbeddedError, fromOutput, isErrno } from './errors.ts';
import type { Place } from './folders.ts';
import { exists, removeAll, temporaryName } from './names.ts';
import { run } from './run.ts';

export const superuser = 'recoup';

/** Lies in the data directory, which only PostgreSQL's user (and root) may enter. */
const passwordFile = 'recoup.password';

export async function ensureCluster(
  place: Place,
  binaries: Binaries,
  durable: boolean,
  say: (line: string) => void,
): Promise<string> {
  const data = join(place.folder, 'data');
  if (await exists(join(data, 'PG_VERSION'))) {
    await refuseOtherVersion(data, binaries);
    return data;
  }
  if ((await exists(data)) && (await readdir(data)).length > 0) {
    throw new EmbeddedError('data_directory_unusable', `${data} is not empty and holds no PostgreSQL data.`);
  }
  say(`Creating a PostgreSQL ${binaries.version} database in ${data}`);
  const temporary = await temporaryName(data);
  const password = await temporaryName(join(place.folder, 'password'));
  try {
    await writePassword(password, place);
    await initdb(temporary, password, place, binaries, durable);
    await rename(password, join(temporary, passwordFile));
    if (durable) await syncFolder(temporary);
    await rename(temporary, data).catch(async (error: unknown) => {
      // Of two first starts at once one was quicker; this one goes on with what that one made.
      if (!(await exists(join(data, 'PG_VERSION')))) throw error;
    });
    if (durable) await syncFolder(dirname(data));
  } finally {
    await rm(password, { force: true });
    await removeAll(temporary, place.account);
  }
  return data;
}

/**
 * A password and not trust: whoever can connect as the superuser can run programs as PostgreSQL's user and rewrite
 * every balance, and loopback is open to every user of the machine. It costs a few milliseconds a connection.
 */
async function writePassword(path: string, place: Place): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(randomBytes(24).toString('base64url'));
    if (place.account) await file.chown(place.account.uid, place.account.gid);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function initdb(data: string, password: string, place: Place, binaries: Binaries, durable: boolean) {
  const args = ['-D', data, '-U', superuser, '-A', 'scram-sha-256', '--pwfile', password, '-E', 'UTF8', '--locale=C'];
  if (!durable) args.push('--no-sync');
  const { code, output, failure } = await run(program(binaries.binDir, 'initdb'), args, place.account);
  if (failure) throw failure;
  if (code !== 0) throw fromOutput(output, `Creating the database in ${dirname(data)}`);
}

/** A rename survives a power cut only once the folder that holds the name is on disk. Windows has no such call. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Nothing for a cluster that was not made here: then its own pg_hba.conf decides. */
export async function readPassword(data: string): Promise<string | undefined> {
  return readFile(join(data, passwordFile), 'utf8').then(
    (text) => text.trim(),
    (error: unknown) => {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw error;
    },
  );
}

async function refuseOtherVersion(data: string, binaries: Binaries): Promise<void> {
  const written = (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim();
  if (Number.parseInt(binaries.version, 10) === Number.parseInt(written, 10)) return;
  const text = `The data in ${data} was written by PostgreSQL ${written} and this is PostgreSQL ${binaries.version}.`;
  const advice = 'Dump it with the old version and load it with the new one, or name another folder.';
  throw new EmbeddedError('data_directory_unusable', `${text} ${advice}`);
}
