// Older releases of the library, unpacked from the fixtures that `tools/pack-older.ts` makes: real code, not a likeness of it.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll } from 'vitest';
import type * as Library from '../../src/index.ts';

const fixtures = join(import.meta.dirname, '../fixtures/older');

/** The migrations that a packed release knows up to, oldest first: 1, 2, … */
export const olderReleases: readonly number[] = readdirSync(fixtures)
  .map((name) => Number(/^(\d{4})\.json\.br$/.exec(name)?.[1]))
  .sort((a, b) => a - b);

/** What every release has had: nothing of an older one is typed by today's library beyond it. */
export type Older = Pick<Library.Recoup, 'wallets' | 'verify' | 'close'> & {
  jobs: Pick<
    Library.Recoup['jobs'],
    'submit' | 'lease' | 'fail' | 'succeed' | 'settle' | 'cancel' | 'release' | 'handOver' | 'get'
  >;
};

const unpacked: string[] = [];
afterAll(() => {
  for (const folder of unpacked) rmSync(folder, { recursive: true, force: true });
});

const loaded = new Map<number, Promise<{ open(options: Library.OpenOptions): Promise<Older> }>>();

/** The release that knows migrations up to this one. */
export function older(newest: number) {
  const library = loaded.get(newest) ?? load(newest);
  loaded.set(newest, library);
  return library;
}

async function load(newest: number) {
  const packed = readFileSync(join(fixtures, `${String(newest).padStart(4, '0')}.json.br`));
  const files = JSON.parse(brotliDecompressSync(packed).toString()) as Record<string, string>;
  const folder = mkdtempSync(join(tmpdir(), `recoup-older-${newest}-`));
  unpacked.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  // Its one dependency, pg, is ours.
  symlinkSync(join(import.meta.dirname, '../../../../node_modules'), join(folder, 'node_modules'));
  return import(/* @vite-ignore */ pathToFileURL(join(folder, 'dist/index.js')).href);
}
