// An export whose file cannot take it all: it fails, keeps no cursor behind what was not written, and the next one has everything.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, newId } from './support/api.ts';

const bin = new URL('../bin/recoup.mjs', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'recoup-export-'));
let api: Api;
beforeAll(async () => {
  api = await Api.start();
});
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the export of a wallet into a file, under a limit of the file's size. */
const exportInto = (out: string, cursor: string, wallet: string, kilobytes: string) =>
  new Promise<number>((done) => {
    const command =
      'ulimit -f "$1"; exec "$2" "$3" export entries --format jsonl --wallet "$4" --cursor-file "$5" > "$6"';
    const given = [kilobytes, process.execPath, bin, wallet, cursor, out];
    const env = { ...process.env, DATABASE_URL: api.db.url };
    const child = execFile('bash', ['-c', command, 'bash', ...given], { env });
    child.once('exit', (code) => done(code ?? -1));
  });

test('a file that is full: the export fails, and going on loses nothing', async () => {
  const wallet = newId('w');
  await api.call('wallets.open', { wallet, customer: 'c' });
  const items = Array.from({ length: 400 }, (_, i) => ({ wallet, key: `k${i}`, amount: 1 }));
  await api.call('wallets.grantMany', { items });
  const [cursor, cut, whole] = ['cursor', 'cut', 'whole'].map((name) => join(folder, name)) as [string, string, string];
  expect(await exportInto(cut, cursor, wallet, '16')).not.toBe(0);
  expect(readFileSync(cut).length).toBeLessThanOrEqual(16 * 1024);
  expect(existsSync(cursor)).toBe(false);
  expect(await exportInto(whole, cursor, wallet, 'unlimited')).toBe(0);
  const lines = readFileSync(whole, 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).seq)).toEqual(items.map((_, i) => i + 1));
  expect(readFileSync(cursor, 'utf8').trim()).not.toBe('');
});
