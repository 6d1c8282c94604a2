// The user that PostgreSQL runs as: it refuses to run as root, so root lends it an existing unprivileged user.
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EmbeddedError, useDatabaseUrl } from './errors.ts';
import { run } from './run.ts';

export interface Account {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
}

export const isRoot = process.getuid?.() === 0;

/** A user without an entry in the user database will not do: initdb looks itself up by name. */
export async function lookUpAccount(who: string | number): Promise<Account> {
  const [uid, gid, name] = await Promise.all(['-u', '-g', '-un'].map((flag) => run('id', [flag, String(who)])));
  if (uid?.code !== 0 || gid?.code !== 0 || name?.code !== 0) {
    const why = 'PostgreSQL does not run as root and there is no user';
    throw new EmbeddedError('embedded_unavailable', `${why} ${who} to run it as. ${useDatabaseUrl}`);
  }
  return { uid: Number(uid.output), gid: Number(gid.output), name: name.output.trim() };
}

/** Whether the user may pass through every folder down to this one. Its only group is its primary one. */
export async function canEnter(account: Account, folder: string): Promise<boolean> {
  const { mode, uid, gid } = await stat(folder);
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  if ((mode & bit) === 0) return false;
  const parent = dirname(folder);
  return parent === folder || canEnter(account, parent);
}
