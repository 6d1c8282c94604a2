// Holds the snippets of the pages to the programs they are pieces of: `// docs: name` … `// end` (in Python `# docs: name`).
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
const pages = ['README.md', ...docs.map((name) => `docs/${name}`)].filter(
  (path) => path.endsWith('.md') && existsSync(join(root, path)),
);
const SNIPPET = /^<!-- (\S+\.(?:ts|py)): ([\w-]+) -->\n```(?:ts|python)\n([\s\S]*?)^```$/gm;

/** A region of a program, moved to the left margin. */
function region(path: string, name: string): string {
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  const mark = path.endsWith('.py') ? '#' : '//';
  const start = lines.findIndex((line) => line.trim() === `${mark} docs: ${name}`);
  const end = lines.findIndex((line, index) => index > start && line.trim() === `${mark} end`);
  if (start < 0 || end < 0) throw new Error(`${path} has no region ${name}`);
  const inside = lines.slice(start + 1, end);
  const margin = Math.min(...inside.filter((line) => line !== '').map((line) => line.search(/\S/)));
  return `${inside
    .map((line) => line.slice(margin))
    .join('\n')
    .trimEnd()}\n`;
}

const snippets = pages.flatMap((page) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(SNIPPET)].map(([, path, name, text]) => ({
    page,
    path: path!,
    name: name!,
    text,
  })),
);

test.each(snippets)('$page shows $path: $name as it is', ({ path, name, text }) => {
  expect(text).toBe(region(path, name));
});

test('the page on embedding shows no program that is not checked', () => {
  const page = readFileSync(join(root, 'docs/embedding.md'), 'utf8');
  const blocks = page.match(/^```ts$/gm) ?? [];
  expect(snippets.filter((snippet) => snippet.page === 'docs/embedding.md')).toHaveLength(blocks.length);
  expect(blocks.length).toBeGreaterThan(8);
});

test('the recipes show no program that is not checked', () => {
  const recipes = pages.filter((page) => page.startsWith('docs/recipes/'));
  const blocks = recipes.flatMap((page) => readFileSync(join(root, page), 'utf8').match(/^```ts$/gm) ?? []);
  expect(snippets.filter(({ page }) => recipes.includes(page))).toHaveLength(blocks.length);
  expect(blocks.length).toBeGreaterThan(8);
});

test('every region of an example is shown somewhere', () => {
  const examples = readdirSync(import.meta.dirname).filter((name) => /(?<!\.test)\.ts$|\.py$/.test(name));
  const regions = examples.flatMap((name) =>
    [...readFileSync(join(root, 'examples', name), 'utf8').matchAll(/^ *(?:\/\/|#) docs: ([\w-]+)$/gm)].map(
      ([, region]) => `examples/${name}: ${region}`,
    ),
  );
  const shown = new Set(snippets.map(({ path, name }) => `${path}: ${name}`));
  expect(regions.filter((name) => !shown.has(name))).toEqual([]);
});
