// Holds docs/command-line.md to the program: every command that is no operation, and every option of it, is on the page.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { errors } from '../packages/recoup/src/errors.ts';
import { buildProgram } from '../packages/server/src/cli/program.ts';
import { kebab } from '../packages/server/src/cli/settings.ts';
import { Stop } from '../packages/server/src/cli/stop.ts';
import { operations } from '../packages/server/src/operations/operations.ts';

const page = readFileSync(resolve(import.meta.dirname, '../docs/command-line.md'), 'utf8');
const output = { out: () => {}, err: () => {} };
const program = buildProgram({ env: {}, output, stop: new Stop() });

/** The commands that do something, by what is typed. */
function leaves(command: Command, path: string): [path: string, command: Command][] {
  if (command.commands.length === 0) return [[path, command]];
  return command.commands.flatMap((inner) => leaves(inner, `${path} ${inner.name()}`));
}
const all = leaves(program, 'recoup');
const ofOperations = new Set(operations.map(({ name }) => `recoup ${name.split('.').map(kebab).join(' ')}`));
const others = all.filter(([path]) => !ofOperations.has(path));

test('every command of the program is an operation or on the page', () => {
  expect(others.length).toBeGreaterThan(12);
  const missing = others.map(([path]) => path).filter((path) => !new RegExp(`\`${path}[ \`]`).test(page));
  expect(missing).toEqual([]);
  const typed = operations.filter(({ scopes }) => scopes !== 'signature').map(({ name }) => name);
  expect(
    typed
      .map((name) => `recoup ${name.split('.').map(kebab).join(' ')}`)
      .filter((path) => !all.some(([one]) => one === path)),
  ).toEqual([]);
});

test.each(others)('%s: every option is on the page, and every command says what it does', (_path, command) => {
  expect(command.description()).not.toBe('');
  const missing = command.options.map(({ long }) => long!).filter((long) => !new RegExp(`${long}[ \`]`).test(page));
  expect(missing).toEqual([]);
});

test('the page names no command that is not there', () => {
  const named = [...page.matchAll(/^recoup ([a-z][a-z-]*)|`recoup ([a-z][a-z-]*)/gm)].map(
    ([, line, code]) => line ?? code,
  );
  const known = program.commands.map((one) => one.name());
  expect(named.filter((name) => !known.includes(name!))).toEqual([]);
});

test('the page has every exit code of the errors', () => {
  const codes = [...new Set(Object.values(errors).map(({ exit }) => exit))];
  expect(codes.filter((code) => !new RegExp(`^\\| ${code} \\| \\w`, 'm').test(page))).toEqual([]);
});
