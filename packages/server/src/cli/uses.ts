// Which settings a command can use: the others are refused as flags, since one that is passed over is taken for followed.
import type { Command } from 'commander';
import { InvalidInput } from 'recoup';
import { kebab, type Resolved, SETTINGS, type SettingName } from './settings.ts';

const ALL = Object.keys(SETTINGS) as SettingName[];
const DATABASE: readonly SettingName[] = ['databaseUrl', 'dataDir', 'schema', 'pooler'];
const SERVER: readonly SettingName[] = ['server', 'key'];
const BOTH = [...DATABASE, ...SERVER];

/** By the words of a command, or by its first; what is not here is carried out on a database or by a server. */
const USES: Readonly<Record<string, readonly SettingName[]>> = {
  start: ALL.filter((name) => !SERVER.includes(name)),
  migrate: DATABASE,
  verify: DATABASE,
  doctor: DATABASE,
  config: ALL,
  openapi: [],
  decode: [],
  'upstreams simulate': [],
  demo: ['databaseUrl', 'port'],
  work: [...BOTH, 'maxConnections', 'lockTimeoutMs', 'pollMs', 'sweep'],
  callbacks: [...BOTH, 'publicUrl'],
};

/** The names from the program down, without it: `wallets balance`. */
function wordsOf(command: Command): string[] {
  return command.parent === null ? [] : [...wordsOf(command.parent), command.name()];
}

function usesOf(command: Command): readonly SettingName[] {
  const words = wordsOf(command);
  return USES[words.join(' ')] ?? USES[words[0] ?? ''] ?? BOTH;
}
const flags = (names: readonly SettingName[]) => names.map((name) => `--${kebab(name)}`).join(', ');

/** Refuses the flags that the command cannot use, and those of a database beside a server. */
export function refuseUnused(command: Command, { values, from }: Resolved): void {
  const uses = usesOf(command);
  const given = ALL.filter((name) => from[name] === 'flag');
  const name = wordsOf(command).join(' ');
  const unused = given.find((one) => !uses.includes(one));
  if (unused !== undefined) {
    const takes = uses.length === 0 ? 'it takes no settings' : `it takes ${flags(uses)}`;
    throw new InvalidInput(unused, `cannot be used here: recoup ${name} does not use it; ${takes}`);
  }
  if (values.server === undefined || !uses.includes('server') || uses === ALL) return;
  const besides = given.find((one) => DATABASE.includes(one));
  if (besides !== undefined) {
    const whence = from.server === 'flag' ? '--server' : `the server that is set (${from.server})`;
    throw new InvalidInput(
      besides,
      `names a database, and ${whence} is asked instead of one: leave one of the two out`,
    );
  }
}

/** What the help of a command says of settings. */
export function describeUses(command: Command): string {
  const uses = usesOf(command);
  if (wordsOf(command).length === 0 || uses === ALL) return '';
  if (uses.length === 0) return '\nIt takes no settings.';
  const where = uses.includes('server')
    ? ' --database-url or --server say where it is carried out;\nwithout both Recoup starts a PostgreSQL of its own in ./.recoup.'
    : '';
  return `\nSettings it takes: ${flags(uses)}.${where} --json prints JSON.
What they mean: recoup --help. What they are: recoup config.`;
}
