// The rows of an import, checked as a whole first and kept in a file meanwhile: what is wrong anywhere changes nothing anywhere.

import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { Refusal } from 'recoup';
import { BrokenSource, type Cells, type LineProblem, type Row, RowChecker } from './rows.ts';

const SHOWN = 20;

export interface Spool extends AsyncDisposable {
  /** How many rows there are. */
  readonly rows: number;
  readonly sum: number;
  batches(size: number): AsyncGenerator<Row[]>;
}

/** Reads a source to its end. Refuses `invalid` with the first problems, by line and column. */
export async function spool(source: AsyncIterable<Cells>, onProgress: (rows: number) => void): Promise<Spool> {
  const folder = await mkdtemp(join(tmpdir(), 'recoup-import-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const path = join(folder, 'rows');
  try {
    const { rows, sum } = await write(source, path, onProgress);
    return { rows, sum, batches: (size) => batches(path, size), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function write(source: AsyncIterable<Cells>, path: string, onProgress: (rows: number) => void) {
  const out = createWriteStream(path, { mode: 0o600 });
  const checker = new RowChecker();
  const problems: LineProblem[] = [];
  let [rows, sum, wrong] = [0, 0n, 0];
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
        if (wrong === 0 && !out.write(`${JSON.stringify(row)}\n`)) await once(out, 'drain');
      }
    }
  } catch (error) {
    if (!(error instanceof BrokenSource)) throw error;
    complain([error.at]);
  } finally {
    out.end();
    await finished(out);
  }
  if (wrong > 0) throw refused(problems, wrong);
  return { rows, sum: Number(sum) };
}

function refused(problems: readonly LineProblem[], wrong: number): Refusal {
  const lines = problems.map(({ line, column, problem }) => `  line ${line}${column ? `, ${column}` : ''}: ${problem}`);
  if (wrong > problems.length) lines.push(`  … and ${wrong - problems.length} more`);
  const message = `Nothing was changed: ${wrong} ${wrong === 1 ? 'problem' : 'problems'}.\n${lines.join('\n')}`;
  return new Refusal('invalid', message, { problems });
}

async function* batches(path: string, size: number): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    batch.push(JSON.parse(line) as Row);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
