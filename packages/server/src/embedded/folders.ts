// Where things lie: the data in the folder the person named or, where PostgreSQL's user cannot reach it, in the home.
import { randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { type Account, canEnter, isRoot, lookUpAccount } from './account.ts';
import { EmbeddedError, isErrno } from './errors.ts';
import { exists, isTemporary, temporaryName } from './names.ts';

export interface Place {
  /** Holds `data` (the cluster), `owner.json` and `postgres.log`. */
  readonly folder: string;
  /** Holds the copies of the binaries, and as root the data that cannot lie where it was asked for. */
  readonly home: string;
  /** Whom PostgreSQL runs as; nothing means: as whoever runs this process. */
  readonly account: Account | undefined;
}

const unprivilegedUser = 'nobody';

/** The name of the file that says where the data lies when it does not lie here. */
const pointer = 'location';

export async function openPlace(dataDir: string): Promise<Place> {
  const named = resolve(dataDir);
  await makeFolder(named).catch((error: unknown) => {
    if (isErrno(error, 'ENOTDIR', 'EEXIST')) {
      const text = `${named} is a file, or lies below one: name a folder, new or empty.`;
      throw new EmbeddedError('data_directory_unusable', text);
    }
    // ENOENT is what Node says of a read-only file system here.
    if (!isErrno(error, 'EACCES', 'EPERM', 'EROFS', 'ENOENT')) throw error;
    throw new EmbeddedError('permission_denied', `The folder ${named} is absent and cannot be made (${error.code}).`);
  });
  await refuseForeign(named);
  const folder = await realpath(named);
  return isRoot ? openAsRoot(folder) : openAsSelf(folder);
}

/** With its parents. Not by `recursive`: where a file system makes no folders (/proc) Node then tries for ever. */
async function makeFolder(path: string): Promise<void> {
  const make = () =>
    mkdir(path, { mode: 0o700 }).catch(async (error: unknown) => {
      if (!isErrno(error, 'EEXIST') || !(await stat(path)).isDirectory()) throw error;
    });
  try {
    await make();
  } catch (error) {
    const parent = dirname(path);
    if (!isErrno(error, 'ENOENT') || parent === path || (await exists(parent))) throw error;
    await makeFolder(parent);
    await make();
  }
}

async function openAsSelf(folder: string): Promise<Place> {
  if (await exists(join(folder, pointer))) {
    const elsewhere = await readFile(join(folder, pointer), 'utf8');
    const text = `root made ${folder}, and its data lies in ${elsewhere.trim()}: start as root, or name another folder.`;
    throw new EmbeddedError('permission_denied', text);
  }
  await makeIgnored(folder);
  return { folder, home: await openOwnHome(), account: undefined };
}

async function openAsRoot(named: string): Promise<Place> {
  const home = await openRootHome();
  if (await exists(join(named, pointer))) return followPointer(named, home);
  const { uid } = await stat(named);
  const account = await lookUpAccount(uid === 0 ? unprivilegedUser : uid);
  if (await canEnter(account, dirname(named))) {
    await makeIgnored(named);
    if (uid === 0) await give(named, account);
    return { folder: named, home, account };
  }
  if (uid !== 0) {
    const text = `${named} belongs to the user ${account.name}, who cannot reach it: name another folder.`;
    throw new EmbeddedError('permission_denied', text);
  }
  await makeIgnored(named);
  await writePointer(named, join(home, `data-${randomBytes(8).toString('hex')}`));
  return followPointer(named, home);
}

/** As a link, which appears whole and once: of two first starts, the second follows the pointer of the first. */
async function writePointer(named: string, target: string): Promise<void> {
  const temporary = await temporaryName(join(named, pointer));
  await writeFile(temporary, `${target}\n`, { flag: 'wx', mode: 0o644 });
  await link(temporary, join(named, pointer)).catch((error: unknown) => {
    if (!isErrno(error, 'EEXIST')) throw error;
  });
  await unlink(temporary);
}

async function followPointer(named: string, home: string): Promise<Place> {
  const folder = (await readFile(join(named, pointer), 'utf8')).trim();
  // Root makes and gives away the folder that is named here, so it must be one that a pointer of ours can name.
  if (dirname(folder) !== home || !/^data-[0-9a-f]{16}$/.test(basename(folder))) {
    const text = `${join(named, pointer)} names ${folder}, which is not a folder of data under ${home}.`;
    throw new EmbeddedError('data_directory_unusable', text);
  }
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (!isErrno(error, 'EEXIST')) throw error;
  });
  const { uid } = await stat(folder);
  const account = await lookUpAccount(uid === 0 ? unprivilegedUser : uid);
  if (uid === 0) await give(folder, account);
  return { folder, home, account };
}

/** A folder of its own that nobody else knows, in the system's folder for temporary files or in `under`. */
export async function openThrowaway(under = tmpdir()): Promise<Place> {
  const home = await (isRoot ? openRootHome() : openOwnHome());
  const account = isRoot ? await lookUpAccount(unprivilegedUser) : undefined;
  let base = await realpath(under);
  if (account && !(await canEnter(account, base))) {
    base = join(home, 'throwaway');
    await mkdir(base, { recursive: true });
    await give(base, account);
  }
  const folder = await mkdtemp(join(base, 'recoup-'));
  if (account) await give(folder, account);
  return { folder, home, account };
}

async function give(folder: string, account: Account): Promise<void> {
  await chmod(folder, 0o700);
  await chown(folder, account.uid, account.gid);
}

/** Root is about to give the folder away and fill it: it must be empty or one of ours. */
async function refuseForeign(folder: string): Promise<void> {
  const names = await readdir(folder);
  if (names.includes(pointer) || (await exists(join(folder, 'data', 'PG_VERSION')))) return;
  const ours = ['data', 'owner.json', 'postgres.log', 'postgres.log.1', '.gitignore'];
  const foreign = names.find((name) => !ours.includes(name) && !isTemporary(name));
  if (foreign === undefined) return;
  const text = `${folder} holds other things (${foreign}) and no data of Recoup: name an empty or a new folder.`;
  throw new EmbeddedError('data_directory_unusable', text);
}

/** Nobody means to commit a database. */
async function makeIgnored(folder: string): Promise<void> {
  await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' }).catch((error: unknown) => {
    if (!isErrno(error, 'EEXIST')) throw error;
  });
}

/** What root runs must not be writable by the user it is run as. */
async function openRootHome(): Promise<string> {
  const home = '/var/lib/recoup';
  await mkdir(home, { recursive: true });
  const { uid, mode } = await stat(home);
  if (uid !== 0) {
    throw new EmbeddedError(
      'permission_denied',
      `${home} does not belong to root: programs for it would not be safe there.`,
    );
  }
  // An existing one too: mkdir obeys the umask, and the unprivileged user must be able to enter.
  if ((mode & 0o777) !== 0o755) await chmod(home, 0o755);
  return home;
}

async function openOwnHome(): Promise<string> {
  const home = join(cacheFolder(), 'recoup');
  try {
    await mkdir(home, { recursive: true });
  } catch (error) {
    if (!isErrno(error, 'EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR')) throw error;
    const text = `PostgreSQL is unpacked into ${home}, where this user may not write. Set XDG_CACHE_HOME to a folder where it may.`;
    throw new EmbeddedError('permission_denied', text);
  }
  return home;
}

function cacheFolder(): string {
  if (process.env.XDG_CACHE_HOME) return resolve(process.env.XDG_CACHE_HOME);
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  if (process.platform === 'win32') return process.env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
  return join(homedir(), '.cache');
}
