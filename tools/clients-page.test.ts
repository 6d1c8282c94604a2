// Holds docs/clients.md and the Python client to the TypeScript client: every option is on the page, under both names.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const page = read('docs/clients.md');

function fields(path: string, name: string): string[] {
  const body = new RegExp(`^export interface ${name} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(read(path))![1]!;
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, field]) => field!);
}

/** The rows of the table behind a text: the option, and what it is called in Python. */
function rows(after: string): [string, string | undefined][] {
  const table = page
    .slice(page.indexOf(after))
    .split(/^\|---.*$/m)[1]!
    .split('\n\n')[0]!;
  return [...table.matchAll(/^\| `(\w+)` \| (?:`(\w+)`)?/gm)].map(([, name, python]) => [name!, python]);
}

const parts = [
  { after: '## Workers', path: 'worker/worker.ts', name: 'WorkOptions', python: 'worker.py', owner: 'class Worker' },
  { after: 'Of a client:', path: 'client.ts', name: 'ClientOptions', python: 'client.py', owner: 'class RecoupClient' },
  { after: 'Of one call', path: 'transport.ts', name: 'CallOptions', python: 'operation.py', owner: 'class Options' },
];

test.each(parts)('every field of $name has its row, and its twin in Python', ({ after, path, name, python, owner }) => {
  const found = rows(after);
  const wanted = fields(`packages/client/src/${path}`, name);
  expect(wanted.length).toBeGreaterThanOrEqual(5);
  expect(found.map(([option]) => option).sort()).toEqual(wanted.sort());
  const text = read(`clients/python/src/recoup/${python}`).split(owner)[1]!;
  const twins = found.flatMap(([, twin]) => twin ?? []);
  expect(twins.filter((twin) => !new RegExp(`^ +${twin}: .+(?:=|,)`, 'm').test(text))).toEqual([]);
});

test('both clients have one version, that of the service', () => {
  const { version } = JSON.parse(read('packages/server/package.json')) as { version: string };
  expect(JSON.parse(read('packages/client/package.json')).version).toBe(version);
  expect(read('clients/python/pyproject.toml')).toMatch(new RegExp(`^version = "${version}"$`, 'm'));
});

test('the page shows no program that is not checked', () => {
  const blocks = page.match(/^```(?:ts|python)$/gm) ?? [];
  const checked = page.match(/^<!-- examples\/\S+: [\w-]+ -->\n```(?:ts|python)$/gm) ?? [];
  expect(blocks.length).toBeGreaterThan(5);
  expect(checked).toHaveLength(blocks.length);
});
