// A CSV file as records: RFC 4180 in UTF-8, with or without a BOM, lines ended either way; what is none is refused by its line.
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { InvalidInput } from 'recoup';
import { BrokenSource, type Cells, checkColumns } from './rows.ts';

/** Far longer than any line that could be right: an unclosed quote must not swallow the file. */
const MAX_RECORD = 10_000;

/** The records of a file, `-` for stdin. */
export async function* readCsv(file: string, delimiter: string): AsyncGenerator<Cells> {
  const bytes = file === '-' ? process.stdin : createReadStream(file);
  const parser = parse({
    delimiter,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: ['\n', '\r\n', '\r'],
    max_record_size: MAX_RECORD,
  });
  const text = Readable.from(decoded(bytes, file));
  text.on('error', (error) => parser.destroy(error));
  text.pipe(parser);
  let names: string[] | undefined;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      if (names === undefined) {
        names = record;
        checkColumns('file', names);
      } else yield cellsOf(names, record, info.lines);
    }
  } catch (error) {
    if (error instanceof CsvError) throw new BrokenSource(Number(error.lines ?? 1), `is not CSV: ${inWords(error)}`);
    throw error;
  } finally {
    text.destroy();
  }
  if (names === undefined) checkColumns('file', []);
}

function cellsOf(names: readonly string[], record: readonly string[], line: number): Cells {
  if (record.length !== names.length) {
    throw new BrokenSource(line, `has ${record.length} fields, the first line has ${names.length}`);
  }
  return { line, cells: Object.fromEntries(names.map((name, index) => [name, record[index]!])) };
}

function inWords(error: CsvError): string {
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is not closed';
  if (error.code === 'CSV_MAX_RECORD_SIZE')
    return `it is longer than ${MAX_RECORD} characters, or a quote is not closed`;
  if (error.code === 'INVALID_OPENING_QUOTE') return 'a quote stands inside a field that does not begin with one';
  if (error.code === 'CSV_INVALID_CLOSING_QUOTE') return 'something stands behind a closing quote';
  return error.message;
}

/** The text of the bytes. A BOM is left out; what is not UTF-8 is refused with its line. */
async function* decoded(bytes: AsyncIterable<Buffer>, file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  try {
    for await (const chunk of bytes) {
      let text: string;
      try {
        text = decoder.decode(chunk, { stream: true });
      } catch {
        const before = chunk.toString('utf8').split('\ufffd')[0]!;
        throw new BrokenSource(line + newlines(before), 'is not UTF-8');
      }
      yield text;
      line += newlines(text);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (typeof code === 'string' && !(error instanceof BrokenSource)) {
      throw new InvalidInput('file', `${file} cannot be read (${code})`);
    }
    throw error;
  }
  try {
    yield decoder.decode();
  } catch {
    throw new BrokenSource(line, 'is not UTF-8: it ends in the middle of a character');
  }
}

const newlines = (text: string) => text.split('\n').length - 1;
