// Lanes: command lines that the program describes itself, with hostile words and settings files.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import fc, { type Arbitrary } from 'fast-check';
import { errors } from 'recoup';
import { buildProgram, run } from '../../packages/server/src/cli/program.ts';
import { SETTINGS } from '../../packages/server/src/cli/settings.ts';
import { Stop } from '../../packages/server/src/cli/stop.ts';
import { type Lane, lane } from './hold.ts';
import { Broken } from './judge.ts';
import { JOBS, type Stand, WALLETS } from './stand.ts';
import { bare, hostile } from './values.ts';

interface Line {
  argv: string[];
  /** What the file holds that the words call FILE. */
  file: string | null;
}

/** Stands for a file that a case writes. */
const FILE = '<file>';
/** What waits for a signal, or for somebody else's server, is started by a lane of its own. */
const WAITS = new Set(['start', 'demo', 'work']);
const EXITS = new Set([0, ...Object.values(errors).map(({ exit }) => exit)]);
const STACK =
  /\n\s+at .*[:(]|node_modules|TypeError|RangeError|\(internal\)|"code":"internal"|\(database_error\)|"code":"database_error"/;
/** Nothing that runs for ever, reads this process's own input, or writes where a word says. */
const NEVER = /^(-|--cursor-file|--server|--database-url|--data-dir|--help|-h)$/;

/** Each command of the program, with its words, arguments and options. */
function commandsOf(command: Command, words: string[] = []): { words: string[]; command: Command }[] {
  if (command.commands.length === 0) return [{ words, command }];
  return command.commands.flatMap((one) => commandsOf(one, [...words, one.name()]));
}

function values(folder: string): Arbitrary<string> {
  const files = fc.constantFrom('@/etc', '@/nowhere', `@${join(folder, 'json')}`, '@');
  const known = fc.constantFrom(...WALLETS, ...JOBS, 'q1', '1', '5', 'null', '[]', '{}', 'true', 'app', 'definitive');
  const words = fc.oneof(
    { weight: 4, arbitrary: known },
    { weight: 2, arbitrary: hostile.map((text) => bare(text).replaceAll('\u0000', '')) },
    { weight: 1, arbitrary: files },
  );
  return words.filter((word) => !NEVER.test(word));
}

function lines(program: Command, folder: string): Arbitrary<Line> {
  const value = values(folder);
  const global = program.options
    .map((option) => option.long!)
    .filter((name) => !NEVER.test(name) && name !== '--version');
  const commands = commandsOf(program).filter(({ words }) => !WAITS.has(words[0]!));
  const one = fc.constantFrom(...commands).chain(({ words, command }) => {
    const needed = fc.tuple(...command.registeredArguments.map(() => value));
    const flags = command.options.map((option) => option.long!).filter((name) => !NEVER.test(name));
    const given =
      flags.length === 0 ? fc.constant([]) : fc.array(fc.tuple(fc.constantFrom(...flags), value), { maxLength: 5 });
    return fc.tuple(needed, given).map(([args, options]) => [...words, ...args, ...options.flat()]);
  });
  const before = fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...global), value).map((pair) => [...pair]) },
  );
  return fc.record({
    argv: fc.tuple(before, one).map(([first, rest]) => ['--json', ...first, ...rest]),
    file: fc.constant(null),
  });
}

/** Settings as YAML: mostly names that are there, with values that no setting takes. */
function files(): Arbitrary<Line> {
  // Where Recoup looks for a database is given: it must not start one wherever a file says.
  const names = Object.keys(SETTINGS).filter((name) => !['databaseUrl', 'dataDir', 'server'].includes(name));
  const field = fc.tuple(fc.constantFrom(...names, '__proto__', 'toString', 'constructor', 'nonsense'), hostile);
  const text = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .array(field, { maxLength: 3 })
        .map((pairs) => pairs.map(([name, json]) => `${name}: ${json}`).join('\n')),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '- a',
        'a: &x [*x]',
        '!!js/function x',
        'port: !!binary AA==',
        '? [a]\n: b',
        '\ttab: 1',
        'a: b: c',
        '<<: {port: 1}',
        '%YAML 9.9\n---\n',
        '--- a\n--- b',
        'port: 1\nport: 2',
        `a: ${'[&a '.repeat(3000)}`,
        bomb(),
      ),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  );
  const argv = fc.constantFrom<string[]>(['--json', '--config', FILE, 'config'], ['decode', FILE, '--rules', FILE]);
  return fc.record({ argv, file: text });
}

/** Lists of balances: mostly as they should be, with cells and bytes that are not. */
function imports(): Arbitrary<Line> {
  const cell = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...WALLETS, 'ann', '0', '5', '-5', 'credit') },
    { weight: 1, arbitrary: hostile.map((text) => bare(text)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('"', '""', '"a', 'a"b', '=1+1', '9007199254740992', '1.5', '1e3', '\u0000', '\xff'),
    },
  );
  const row = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(fc.constantFrom('i1', 'i2', 'i3', 'w1'), fc.constantFrom('ann', 'bob'), cell) },
    { weight: 1, arbitrary: fc.array(cell, { maxLength: 6 }) },
  );
  const heading = fc.constantFrom(
    'wallet,customer,balance',
    'wallet,customer,balance',
    'wallet,customer,balance,unit',
    'wallet,balance',
    'wallet,wallet,customer,balance',
    '\xef\xbb\xbfwallet,customer,balance',
    '',
  );
  const end = fc.constantFrom('\n', '\n', '\r\n', '\r');
  const text = fc
    .tuple(heading, fc.array(row, { maxLength: 5 }), end)
    .map(([first, rows, line]) => [first, ...rows.map((cells) => cells.join(','))].join(line));
  const argv = fc.constantFrom(
    ['import', 'balances', FILE],
    ['import', 'balances', FILE, '--dry-run'],
    ['import', 'compare', FILE],
    ['import', 'balances', FILE, '--delimiter', ';'],
  );
  return fc.record({ argv: argv.map((words) => ['--json', ...words]), file: text });
}

/** Aliases of aliases: a few lines that would become gigabytes. */
const bomb = () =>
  [
    'a0: &a0 [x,x,x,x,x,x,x,x,x]',
    ...Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(',')}]`),
  ].join('\n');

export function commandLanes(stand: Stand): Lane[] {
  const { folder } = stand;
  writeFileSync(join(folder, 'json'), '{"a":1}');
  const config = join(folder, 'given');
  const env = { DATABASE_URL: stand.databaseUrl, RECOUP_KEY: stand.keys.admin };
  const check = async ({ argv, file }: Line) => {
    if (file !== null) writeFileSync(config, file, 'latin1');
    let told = '';
    const tell = (text: string) => {
      told += `${text}\n`;
    };
    const output = { out: tell, err: tell };
    const before = await stand.digest();
    const stop = new Stop();
    const timer = setTimeout(() => stop.ask('SIGINT'), 2000);
    const all = argv.map((word) => (word === FILE ? config : word));
    const code = await run(all, { env, output, stop }).finally(() => clearTimeout(timer));
    if (!EXITS.has(code)) throw new Broken(`exit code ${code}`);
    if (code !== 0 && STACK.test(told)) throw new Broken(`exit code ${code}: ${told.slice(0, 400)}`);
    if (code !== 0 && told.trim() === '') throw new Broken(`exit code ${code}, and nothing was said`);
    if (told.includes(stand.keys.admin!) || told.includes(stand.databaseUrl)) throw new Broken('a secret was printed');
    if (code === 2 && (await stand.digest()) !== before) throw new Broken('refused, and something was changed');
  };
  const show = ({ argv, file }: Line) =>
    `recoup ${argv.map((word) => JSON.stringify(word)).join(' ')}${file === null ? '' : `\nwith a file:\n${file}`}`;
  const program = buildProgram({ env, output: { out: () => {}, err: () => {} }, stop: new Stop() });
  return [
    lane('commands', lines(program, folder), check, show),
    lane('settings', files(), check, show),
    lane('imports', imports(), check, show),
  ];
}
