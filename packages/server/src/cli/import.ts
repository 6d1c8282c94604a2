// `recoup import`: opening balances from a CSV file or a query, and the comparison with the other system while both run.
import { type Command, Option } from 'commander';
import { InvalidInput, idProblem, Refusal } from 'recoup';
import { importBalances } from '../import/balances.ts';
import { type Compared, compareBalances, type Figure } from '../import/compare.ts';
import { readCsv } from '../import/csv.ts';
import { previewImport } from '../import/preview.ts';
import { readQuery } from '../import/query.ts';
import { type Spool, spool } from '../import/spool.ts';
import { count, integerOf, Progress, type Tools, withTarget } from './tools.ts';

interface Source {
  query?: string;
  from?: string;
  delimiter: string;
}

const COLUMNS = `
The columns are wallet, customer, balance and, if you like, unit; the first line of a file names them. A balance is an
integer of the smallest unit you sell, negative for a debt. Everything is checked first: one wrong line, and nothing is changed.`;

export function addImport(program: Command, tools: Tools): void {
  const group = program.command('import').description('take balances over from another system, and compare with it');
  withSource(group.command('balances').description('open wallets and book what they hold, once per wallet and name'))
    .option(
      '--name <name>',
      'the key of the entries is opening:<name>: a repeat with the same name books nothing twice',
      'import',
    )
    .option('--dry-run', 'say what it would do, with the figures and the exit code of the run; change nothing')
    .addHelpText('after', COLUMNS)
    .action((file: string | undefined, options: Source & { name: string; dryRun?: boolean }) =>
      runImport(tools, file, options),
    );
  withSource(
    group.command('compare').description('compare balances with those in Recoup; exit code 8 where any differs'),
  )
    .addOption(
      new Option('--against <figure>', 'what of Recoup to compare with')
        .choices(['booked', 'spendable'])
        .default('booked'),
    )
    .option('--limit <integer>', 'print at most this many differences', '100')
    .addHelpText('after', COLUMNS)
    .action((file: string | undefined, options: Source & { against: Figure; limit: string }) =>
      runCompare(tools, file, options),
    );
}

const withSource = (command: Command) =>
  command
    .argument('[file]', 'a CSV file in UTF-8; - is stdin')
    .option('--query <select>', 'a query on another database instead of a file')
    .option('--from <url>', 'postgres://… of that database; or RECOUP_IMPORT_FROM in the environment')
    .option('--delimiter <character>', 'what separates fields of the file', ',');

/** Reads and checks everything that was named. */
async function readAll({ output, env, stop }: Tools, file: string | undefined, given: Source): Promise<Spool> {
  const progress = new Progress(output);
  const onProgress = (rows: number) => {
    stop.check(() => 'Stopped while reading: nothing was changed.');
    progress.say(() => `read ${count(rows)} rows`);
  };
  if (given.query === undefined) {
    if (file === undefined)
      throw new InvalidInput('file', 'is required: a CSV file, - for stdin, or --query with --from');
    if (given.from !== undefined) throw new InvalidInput('--from', 'goes with --query');
    if ([...given.delimiter].length !== 1) throw new InvalidInput('--delimiter', 'must be one character');
    return spool(readCsv(file, given.delimiter), onProgress);
  }
  if (file !== undefined) throw new InvalidInput('--query', 'is given instead of a file, not beside it');
  const from = given.from ?? env.RECOUP_IMPORT_FROM;
  if (!from) throw new InvalidInput('--from', 'is required with --query: postgres://… of the other database');
  return spool(readQuery(from, given.query), onProgress);
}

async function runImport(tools: Tools, file: string | undefined, options: Source & { name: string; dryRun?: boolean }) {
  const key = `opening:${options.name}`;
  const problem = idProblem(key);
  if (problem !== null || options.name === '') throw new InvalidInput('--name', problem ?? 'must not be empty');
  await using rows = await readAll(tools, file, options);
  const progress = new Progress(tools.output);
  const onProgress = (done: number) => {
    const howFar = `${count(done)} of ${count(rows.rows)} wallets`;
    if (done < rows.rows)
      tools.stop.check(() =>
        options.dryRun ? 'Stopped.' : `Stopped after ${howFar}. The same command does the rest.`,
      );
    progress.say(() => howFar);
  };
  if (!options.dryRun) tools.stop.gently();
  const result = await withTarget(tools, (ask) =>
    options.dryRun ? previewImport(ask, rows, key, onProgress) : importBalances(ask, rows, key, onProgress),
  );
  tools.print(options.dryRun ? { dryRun: true, key, ...result } : { key, ...result });
  if (result.addedTo > 0) {
    const what = options.dryRun
      ? 'hold something already: it would be added to that'
      : 'held something: it was added to that';
    tools.output.err(`Warning: ${count(result.addedTo)} of ${count(rows.rows)} wallets ${what}.`);
  }
  if (result.refused > 0) {
    throw new Refusal(
      'conflict',
      `${count(result.refused)} of ${count(rows.rows)} wallets ${options.dryRun ? 'would be' : 'were'} refused.`,
    );
  }
}

async function runCompare(
  tools: Tools,
  file: string | undefined,
  options: Source & { against: Figure; limit: string },
) {
  const limit = integerOf('--limit', options.limit, 0, 1_000_000)!;
  await using rows = await readAll(tools, file, options);
  const progress = new Progress(tools.output);
  const onProgress = (done: number) => progress.say(() => `${count(done)} of ${count(rows.rows)} wallets`);
  const result: Compared = await withTarget(tools, (ask) =>
    compareBalances(ask, rows, options.against, limit, onProgress),
  );
  tools.print(result);
  const unequal = result.different + result.missing;
  if (unequal > 0) throw new Refusal('unhealthy', `${count(unequal)} of ${count(result.wallets)} wallets differ.`);
}
