// The rows of an import, checked as a whole first and kept in a file meanwhile: what is wrong anywhere changes nothing anywhere.

import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refusal } from 'recoup';
import { BrokenSource, type Cells, type LineProblem, type Row, RowChecker } from './rows.ts';

const SHOWN = 20;
const CHUNK = 65_536;

/** A sum as JSON has it exactly: a number, or its digits where a number would round it. */
export const exact = (sum: bigint): number | string => (Number.isSafeInteger(Number(sum)) ? Number(sum) : `${sum}`);

export interface Spool extends AsyncDisposable {
  /** How many rows there are. */
  readonly rows: number;
  readonly sum: bigint;
  /** Whether there is a row above zero, and one below. */
  readonly credits: boolean;
  readonly debts: boolean;
  batches(size: number): AsyncGenerator<Row[]>;
}

/** Reads a source to its end. Refuses `invalid` with the first problems, by line and column. */
export async function spool(source: AsyncIterable<Cells>, onProgress: (rows: number) => void): Promise<Spool> {
  const folder = await mkdtemp(join(tmpdir(), 'recoup-import-'));
  const file = await open(join(folder, 'rows'), 'wx+', 0o600);
  // Its name goes at once: whatever kills this process, no file with balances stays. Windows lets it go when it is closed.
  const remove = () => rm(folder, { recursive: true, force: true }).catch(() => {});
  await remove();
  const close = () => file.close().then(remove);
  try {
    const read = await write(source, file, onProgress);
    return { ...read, batches: (size) => batches(file, size), [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function write(source: AsyncIterable<Cells>, file: FileHandle, onProgress: (rows: number) => void) {
  let out = '';
  const checker = new RowChecker();
  const problems: LineProblem[] = [];
  let [rows, sum, wrong] = [0, 0n, 0];
  let [credits, debts] = [false, false];
  const complain = (found: readonly LineProblem[]) => {
    wrong += found.length;
    problems.push(...found.slice(0, SHOWN - problems.length));
  };
  try {
    for await (const cells of source) {
      const row = checker.check(cells);
      rows += 1;
      onProgress(rows);
      if (Array.isArray(row)) complain(row);
      else {
        sum += BigInt(row.balance);
        credits ||= row.balance > 0;
        debts ||= row.balance < 0;
        if (wrong === 0) out += `${JSON.stringify(row)}\n`;
        if (out.length > CHUNK) {
          await file.appendFile(out);
          out = '';
        }
      }
    }
  } catch (error) {
    if (!(error instanceof BrokenSource)) throw error;
    complain([error.at]);
  }
  if (wrong > 0) throw refused(problems, wrong);
  await file.appendFile(out);
  return { rows, sum, credits, debts };
}

function refused(problems: readonly LineProblem[], wrong: number): Refusal {
  const lines = problems.map(({ line, column, problem }) => `  line ${line}${column ? `, ${column}` : ''}: ${problem}`);
  if (wrong > problems.length) lines.push(`  … and ${wrong - problems.length} more`);
  const message = `Nothing was changed: ${wrong} ${wrong === 1 ? 'problem' : 'problems'}.\n${lines.join('\n')}`;
  return new Refusal('invalid', message, { problems });
}

async function* batches(file: FileHandle, size: number): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  for await (const line of lines(file)) {
    batch.push(JSON.parse(line) as Row);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** By hand: a stream over a handle that is closed later keeps it from closing. */
async function* lines(file: FileHandle): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const buffer = Buffer.alloc(CHUNK);
  let rest = '';
  for (let position = 0; ; ) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    const parts = (rest + decoder.decode(buffer.subarray(0, bytesRead), { stream: true })).split('\n');
    rest = parts.pop()!;
    yield* parts;
  }
}
