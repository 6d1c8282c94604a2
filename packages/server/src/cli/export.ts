// `recoup export`: the ledger and the unused credit for other books, as CSV or JSON lines, page by page.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { stringify } from 'csv-stringify/sync';
import { InvalidInput, Refusal } from 'recoup';
import { count, instantOf, Progress, type Tools, withTarget } from './tools.ts';

type Row = Record<string, unknown>;
interface Format {
  format: 'csv' | 'jsonl';
  escapeFormulas?: boolean;
}
interface Filter {
  wallet?: string;
  customer?: string;
}
interface EntriesOptions extends Format, Filter {
  from?: string;
  to?: string;
  cursor?: string;
  cursorFile?: string;
}

const ENTRY = [
  'wallet',
  'customer',
  'unit',
  'seq',
  'type',
  'amount',
  'balance',
  'job',
  'key',
  'reason',
  'actor',
  'createdAt',
];
const GRANT = [
  'wallet',
  'customer',
  'unit',
  'seq',
  'type',
  'key',
  'reason',
  'amount',
  'remaining',
  'priority',
  'expiresAt',
  'createdAt',
];

export function addExport(program: Command, tools: Tools): void {
  const group = program.command('export').description('the ledger and the unused credit, for accounting');
  withFormat(
    group.command('entries').description('entries of the ledger with customer and unit; resumes behind a cursor'),
  )
    .option('--from <instant>', 'entries of this instant or later: RFC 3339, or a date (its first moment in UTC)')
    .option('--to <instant>', 'entries before this instant')
    .option('--cursor <cursor>', 'go on behind an earlier export; then no heading is written')
    .option('--cursor-file <file>', 'read the cursor from here if it is there, and keep it here page by page')
    .action((options: EntriesOptions) => exportEntries(tools, options));
  withFormat(
    group.command('grants').description('unused credit by grant in the order of its use; a debt is paid before'),
  ).action((options: Format & Filter) => exportGrants(tools, options));
}

const withFormat = (command: Command) =>
  command
    .addOption(new Option('--format <format>', 'CSV, or JSON lines').choices(['csv', 'jsonl']).default('csv'))
    .option('--escape-formulas', "CSV: put ' before texts that a spreadsheet would run")
    .option('--wallet <wallet>', 'only this wallet')
    .option('--customer <customer>', 'only wallets of this customer');

/** Writes rows as they come; the heading once. */
class Writer {
  readonly #tools: Tools;
  readonly #columns: readonly string[];
  readonly #format: Format;
  #heading: boolean;
  readonly #progress: Progress;
  written = 0;

  constructor(tools: Tools, columns: readonly string[], format: Format, heading: boolean) {
    this.#tools = tools;
    this.#columns = columns;
    this.#format = format;
    this.#heading = heading;
    this.#progress = new Progress(tools.output);
  }

  async write(rows: readonly Row[]): Promise<void> {
    const text = this.#format.format === 'jsonl' || this.#tools.json() ? jsonLines(rows) : this.#csv(rows);
    this.written += rows.length;
    if (text !== '') this.#tools.output.out(text);
    // A reader slower than the database must not fill the memory, and a cursor is kept only behind what was written.
    await this.#tools.output.drained?.();
    this.#progress.say(() => `${count(this.written)} rows`);
  }

  #csv(rows: readonly Row[]): string {
    const header = this.#heading;
    this.#heading = false;
    const cells = rows.map((row) => Object.fromEntries(this.#columns.map((name) => [name, cellOf(row[name])])));
    const text = stringify(cells, {
      columns: [...this.#columns],
      header,
      escape_formulas: this.#format.escapeFormulas ?? false,
    });
    return text.trimEnd();
  }
}

const cellOf = (value: unknown) => (value instanceof Date ? value.toISOString() : value);
const jsonLines = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row)).join('\n');

async function exportEntries(tools: Tools, options: EntriesOptions): Promise<void> {
  const { wallet, customer, cursorFile } = options;
  const [from, to] = [instantOf('--from', options.from), instantOf('--to', options.to)];
  const start = options.cursor ?? readCursor(cursorFile);
  const writer = new Writer(tools, ENTRY, options, start === undefined);
  let cursor = start;
  await withTarget(tools, async (ask) => {
    for (let ended = false; !ended; ) {
      tools.stop.cut.throwIfAborted();
      const page = await ask<{ entries: Row[]; cursor: string | null; ended: boolean }>('feed.entries', {
        wallet,
        customer,
        from,
        to,
        cursor,
        limit: 2000,
      });
      await writer.write(page.entries);
      cursor = page.cursor ?? undefined;
      ended = page.ended;
      if (cursorFile !== undefined && cursor !== undefined) keepCursor(cursorFile, cursor);
    }
  })
    .catch((error: unknown) => {
      if (error instanceof Refusal && error.code === 'epoch_changed') {
        cursor = (error.details.cursor as string | null) ?? undefined;
        const kept = cursorFile === undefined ? '' : ` (${cursorFile} is as it was: write that cursor into it)`;
        const next = cursor === undefined ? 'from the beginning' : 'with the cursor below';
        tools.output.err(`After a restore or a failover: go on ${next}${kept}.`);
      }
      throw error;
    })
    .finally(() => {
      // Also where it broke off: what was written is behind this cursor.
      tools.output.err(
        `${count(writer.written)} entries${cursor === undefined ? '' : `; go on with --cursor ${cursor}`}`,
      );
    });
}

/** Appears whole or not at all: half a cursor would be no cursor. */
function keepCursor(file: string, cursor: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, `${cursor}\n`, { flush: true });
  renameSync(temporary, file);
}

function readCursor(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    const cursor = readFileSync(file, 'utf8').trim();
    if (cursor === '') throw new InvalidInput('--cursor-file', `is empty: ${file}; delete it to begin from the start`);
    return cursor;
  } catch (error) {
    if (error instanceof InvalidInput) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new InvalidInput('--cursor-file', `cannot be read: ${file} (${code})`);
  }
}

async function exportGrants(tools: Tools, options: Format & Filter): Promise<void> {
  const { wallet, customer } = options;
  const writer = new Writer(tools, GRANT, options, true);
  await withTarget(tools, async (ask) => {
    let cursor: string | null | undefined;
    do {
      tools.stop.cut.throwIfAborted();
      const page: { remainders: Row[]; cursor: string | null } = await ask('wallets.remainders', {
        wallet,
        customer,
        cursor: cursor ?? undefined,
        limit: 500,
      });
      await writer.write(page.remainders);
      cursor = page.cursor;
    } while (cursor !== null);
  });
  tools.output.err(`${count(writer.written)} grants with credit left`);
}
