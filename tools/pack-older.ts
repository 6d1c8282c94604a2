// Packs the built library of a checkout as a fixture for upgrade tests: an older release that runs beside a newer one.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

/** What a release needs to run: the JavaScript, the migrations and the manifest. Types and what only tests use stay out. */
function filesOf(library: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const folder of ['dist', 'migrations']) {
    for (const entry of readdirSync(join(library, folder), { withFileTypes: true, recursive: true })) {
      const path = join(entry.parentPath, entry.name);
      const name = relative(library, path);
      if (!entry.isFile() || !/\.(js|sql)$/.test(name) || name.startsWith(join('dist', 'testing'))) continue;
      found[name] = readFileSync(path, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
    }
  }
  const { name, version, type } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8'));
  return { ...found, 'package.json': JSON.stringify({ name, version, type, exports: './dist/index.js' }) };
}

const checkout = resolve(process.argv[2] ?? join(import.meta.dirname, '..'));
const library = join(checkout, 'packages/recoup');
const newest = readdirSync(join(library, 'migrations')).sort().at(-1)!.slice(0, 4);
const folder = join(import.meta.dirname, '../packages/recoup/test/fixtures/older');
const target = join(folder, `${newest}.json.br`);
mkdirSync(folder, { recursive: true });
const text = JSON.stringify(filesOf(library));
writeFileSync(target, brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
console.log(`${relative(process.cwd(), target)}: the library that knows migration ${newest}, from ${checkout}`);
