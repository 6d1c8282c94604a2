// Files that the command line reads whole: rules of an operator for what providers answer, and texts up to a size.
import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { InvalidInput } from 'recoup';
import { type Rules, readRules } from 'recoup/decoders';
import { readYaml } from './yaml.ts';

const MAX_FILE = 64 * 1024 * 1024;

/** Rules that were checked. Refuses with `field`, or with the field of the rules, what is not understood. */
export async function readRulesFile(field: string, path: string): Promise<Rules> {
  return readRules(readYaml(field, await textOf(field, path), 'is neither YAML nor JSON'));
}

/** The text of a file or of stdin, up to a size that a table of answers cannot reach by being right. */
export async function textOf(field: string, path: string, signal?: AbortSignal): Promise<string> {
  const name = path === '-' ? 'stdin' : path;
  const stream = path === '-' ? process.stdin : createReadStream(path);
  // Whoever waits for a line that nobody types is let go.
  if (signal) addAbortSignal(signal, stream);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_FILE) throw new InvalidInput(field, `must be at most ${MAX_FILE} bytes: ${name}`);
      chunks.push(chunk);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    if (error instanceof InvalidInput || signal?.aborted) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw new InvalidInput(field, `is not UTF-8: ${name}`);
    throw new InvalidInput(field, `cannot be read: ${name} (${code})`);
  }
}
