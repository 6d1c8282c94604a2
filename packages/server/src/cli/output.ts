// What the command line prints: data on stdout as a table or as JSON, everything else on stderr.

import { fstatSync, fsyncSync, writeSync } from 'node:fs';
import pc from 'picocolors';
import { type ErrorCode, errors, Refusal } from 'recoup';
import { EmbeddedError } from '../embedded/errors.ts';
import { refusalFor } from '../http/problem.ts';
import { clean } from './views/words.ts';

export interface Output {
  /** Data. */
  out(text: string): void;
  /** Progress and messages. */
  err(text: string): void;
  /** Resolves when everything that was given to `out` has been taken. */
  drained?(): Promise<void>;
}

const STDOUT = 1;

/** Standard output that is a file: Node's stream ignores that only a part was taken, as on a disk that fills up. */
const toFile: Pick<Output, 'out' | 'drained'> = {
  out: (text) => {
    const bytes = Buffer.from(`${text}\n`);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(STDOUT, bytes, at);
    } catch (error) {
      throw new Refusal('internal', `The output could not be written (${(error as NodeJS.ErrnoException).code}).`);
    }
  },
  drained: async () => fsyncSync(STDOUT),
};
const toStream: Pick<Output, 'out' | 'drained'> = {
  out: (text) => void process.stdout.write(`${text}\n`),
  drained: () => new Promise((done) => process.stdout.write('', () => done())),
};

function isFile(): boolean {
  try {
    return fstatSync(STDOUT).isFile();
  } catch {
    return false;
  }
}

export const standard: Output = {
  ...(isFile() ? toFile : toStream),
  err: (text) => void process.stderr.write(`${text}\n`),
};

type Row = Record<string, unknown>;
const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  return clean(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** Rows under their headings, as wide as their widest cell; columns that hold nothing are left out. */
export function table(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names
    .map((name) => ({ name, cells: rows.map((row) => cell(row[name])) }))
    .filter(({ cells }) => cells.some((text) => text !== ''));
  const widths = columns.map(({ name, cells }) => Math.max(name.length, ...cells.map((text) => [...text].length)));
  const line = (texts: string[]) =>
    texts
      .map((text, i) => text + ' '.repeat(Math.max(widths[i]! - [...text].length, 0)))
      .join('  ')
      .trimEnd();
  return [
    line(columns.map(({ name }) => name)),
    ...rows.map((_, row) => line(columns.map(({ cells }) => cells[row]!))),
  ].join('\n');
}

/** An answer for people: a list as a table, an object as one field a line, what is nested below its name. */
export function readable(answer: unknown): string {
  if (Array.isArray(answer)) return answer.length === 0 ? '(none)' : table(answer.map((one) => flat(one)));
  if (!isRow(answer)) return cell(answer);
  const lists = Object.entries(answer).filter(
    ([, value]) => Array.isArray(value) && (value.length === 0 || isRow(value[0])),
  );
  const plain = Object.entries(answer).filter(
    ([name, value]) => !lists.some(([list]) => list === name) && value !== null,
  );
  const width = Math.max(0, ...plain.map(([name]) => name.length));
  const lines = plain.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`);
  const tables = lists.map(
    ([name, value]) => `${lists.length > 1 || lines.length > 0 ? `${name}:\n` : ''}${readable(value)}`,
  );
  return [...lines, ...tables].join('\n');
}

/** A row that holds a job and a little more shows the job's fields first. */
function flat(value: unknown): Row {
  if (!isRow(value)) return { value };
  const { job, ...rest } = value;
  return isRow(job) ? { ...job, ...rest } : value;
}

/** What was asked for, and which keys may, as a server's answer has it. */
function needs({ code, details: { operation, scopes } }: Refusal): string {
  if (code !== 'forbidden' || typeof operation !== 'string') return '';
  return Array.isArray(scopes)
    ? ` ${operation} takes a key of one of the scopes ${scopes.join(', ')}.`
    : ` It is about ${operation}.`;
}

/** What went wrong, in one line, and the exit code that says so. */
export function failure(error: unknown, output: Output, json: boolean): number {
  const own = error instanceof EmbeddedError ? error : undefined;
  const refusal = refusalFor(error);
  const code = own?.code ?? refusal.code;
  // Whoever runs a command may know what nobody foresaw.
  const message =
    (own || code === 'internal') && error instanceof Error ? error.message : refusal.message + needs(refusal);
  if (json) output.err(JSON.stringify({ code, message, ...(own ? {} : refusal.details) }));
  else output.err(`${pc.red('recoup:')} ${message.split('\n').map(clean).join('\n')} (${code})`);
  return own?.exitCode ?? errors[code as ErrorCode].exit;
}
