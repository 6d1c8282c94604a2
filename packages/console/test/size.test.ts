// What a browser has to load: all scripts together stay under 250 kB, gzipped.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const folder = resolve(import.meta.dirname, '../../server/dist/console');

test('the scripts are under 250 kB, gzipped', () => {
  const scripts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  const bytes = scripts.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0);
  expect(scripts.length).toBeGreaterThan(1);
  expect(bytes).toBeLessThan(250_000);
});
