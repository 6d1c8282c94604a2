// Says which Recoup process a running server belongs to, so that the server of a dead one can be told from a used one.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EmbeddedError } from './errors.ts';
import type { Server } from './lock.ts';
import { temporaryName } from './names.ts';
import { formatId, isAlive, type ProcessId, parseId, thisProcess } from './processes.ts';

/**
 * A server carries its starter on its own command line, so that there is no moment at which a server runs and its
 * owner is not recorded. PostgreSQL lets any setting with a dot be.
 */
export const ownerSetting = 'recoup.owner';

/** The command line as postmaster.opts has it: `/path/postgres "-D" "..." ...`. */
export async function commandLine(data: string): Promise<string> {
  return (await readFile(join(data, 'postmaster.opts'), 'utf8')).trim();
}

export function ownerIn(line: string): string | undefined {
  return new RegExp(` "${ownerSetting}=([^"]*)"`).exec(line)?.[1];
}

/**
 * The last to adopt the server or else its starter; nothing if Recoup has not started it. Asks for a server with a
 * status, because PostgreSQL writes its command line before that and may have an old one there until then.
 */
export async function ownerOf(data: string, server: Server): Promise<ProcessId | undefined> {
  const record = await recordOf(data);
  const id = record.server === formatId(server) ? record.owner : ownerIn(await commandLine(data));
  return id === undefined ? undefined : parseId(id);
}

const recordOf = async (data: string) => readRecord(await readFile(ownerFile(data), 'utf8').catch(() => '{}'));

interface OwnerRecord {
  server?: string;
  owner?: string;
  /** Where the owner answers HTTP, if it does. */
  serves?: string;
}

function readRecord(text: string): OwnerRecord {
  try {
    return JSON.parse(text) as OwnerRecord;
  } catch {
    return {};
  }
}

/** It names the server too: what it says of an earlier one does not count. `serves`: where this process answers HTTP. */
export async function recordOwner(data: string, server: ProcessId, serves?: string): Promise<void> {
  const record: OwnerRecord = { server: formatId(server), owner: formatId(await thisProcess()) };
  if (serves !== undefined) record.serves = serves;
  const temporary = await temporaryName(ownerFile(data));
  await writeFile(temporary, `${JSON.stringify(record)}\n`, { flag: 'wx', mode: 0o644 });
  await rename(temporary, ownerFile(data));
}

function ownerFile(data: string): string {
  return join(dirname(data), 'owner.json');
}

/** Throws unless the server was left behind by a Recoup that is dead. */
export async function refuseOwned(data: string, server: Server): Promise<void> {
  const owner = await ownerOf(data, server);
  if (owner && !(await isAlive(owner))) return;
  const { server: recorded, serves } = await recordOf(data);
  throw inUse(data, server, owner, recorded === formatId(server) ? serves : undefined);
}

function inUse(data: string, server: Server, owner: ProcessId | undefined, serves?: string): EmbeddedError {
  const folder = dirname(data);
  if (!owner) {
    const text = `The data in ${folder} is in use by a PostgreSQL that Recoup did not start (process ${server.pid}).`;
    return new EmbeddedError('data_directory_in_use', `${text} Stop that one, or name another folder.`);
  }
  const who = owner.pid === process.pid ? `this process (${owner.pid})` : `the Recoup process ${owner.pid}`;
  const text = `The data in ${folder} is in use by ${who}, whose PostgreSQL is process ${server.pid}.`;
  const instead = serves === undefined ? '' : ` Or talk to it: --server ${serves}`;
  return new EmbeddedError('data_directory_in_use', `${text} Stop that one, or name another folder.${instead}`);
}
