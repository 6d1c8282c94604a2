// Secrets of upstreams by their references, from a file on the machine that asks; each goes to the hosts that it names, and to no others.
import { readFile } from 'node:fs/promises';
import { readYaml } from '../cli/yaml.ts';

/** What an entry of the file may have: where the secret is, in one of three ways, and the hosts that it may be sent to. */
const FIELDS = ['secret', 'env', 'file', 'hosts'];

/** One line that a header can carry. */
const SECRET = /^[\x21-\x7e]+$/;

/**
 * The secret of a reference, for a host. Who may say where a pool is asked need not be who keeps its secrets: without the hosts, an address of his own
 * would get them. What it throws is for people; no secret is in it.
 */
export async function secretFor(ref: string | null, host: string, file: string | undefined): Promise<string> {
  if (ref === null) throw new Error('the upstream has no reference to a credential');
  if (file === undefined) throw new Error('no file of credentials is set here');
  const all = readYaml('probeCredentials', await textOf(file, 'the file of credentials')) as unknown;
  const entry = isRecord(all) && Object.hasOwn(all, ref) ? all[ref] : undefined;
  if (entry === undefined) throw new Error('the file of credentials has none for the reference of the upstream');
  if (!isRecord(entry) || Object.keys(entry).some((field) => !FIELDS.includes(field)))
    throw new Error('an entry of the file of credentials has secret, env or file, and hosts');
  const { hosts } = entry;
  if (!Array.isArray(hosts) || !hosts.includes(host))
    throw new Error(`the file of credentials does not name ${host} among the hosts of this credential`);
  const secret = (await kept(entry))?.trim();
  if (secret === undefined || !SECRET.test(secret))
    throw new Error('the credential of the upstream is not there, or is no line of printable ASCII');
  return secret;
}

async function kept({ secret, env, file }: Record<string, unknown>): Promise<string | undefined> {
  if (typeof secret === 'string') return secret;
  if (typeof env === 'string') return process.env[env];
  return typeof file === 'string' ? textOf(file, 'the file of this credential') : undefined;
}

const textOf = (file: string, what: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${what} cannot be read (${error.code})`);
  });

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
