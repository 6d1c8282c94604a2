// Holds docs/decoders.md to the code: its table of classes, the names of providers, the fields of answers, facts and rules.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ALIASES, CLASSES, classes, decode, PROVIDERS, readRules } from '../packages/recoup/src/decoders.ts';

const page = readFileSync(resolve(import.meta.dirname, '../docs/decoders.md'), 'utf8');
const section = (name: string) => page.split(/^## /m).find((part) => part.startsWith(`${name}\n`))!;

test('the table of classes is that of the code', () => {
  const rows = CLASSES.map((name) => {
    const { policy, subject, meaning, ends, nextStep } = classes[name];
    return `| \`${name}\` | ${policy === null ? '–' : `\`${policy}\``} | \`${subject}\` | ${meaning} | ${ends} | ${nextStep ?? '–'} |`;
  });
  expect(section('The classes').match(/^\| `.*$/gm)).toEqual(rows);
});

test('every provider and alias is on the page', () => {
  const names = [...PROVIDERS, ...Object.keys(ALIASES)];
  expect(names.filter((name) => !section('The answer').includes(`\`${name}\``))).toEqual([]);
});

test('every field of the facts and of a rule is on the page', () => {
  const { provider: _, ...facts } = decode({ provider: 'xai', status: 429, receivedAt: new Date() });
  expect(Object.keys(facts).filter((name) => !section('The facts').includes(`\`${name}\``))).toEqual([]);
  let told = '';
  try {
    readRules({ rules: [{ x: 1 }] });
  } catch (error) {
    told = (error as Error).message;
  }
  const fields = told.split('allowed are ')[1]!.split(', ');
  expect(fields.length).toBeGreaterThan(8);
  expect(fields.filter((name) => !new RegExp(`\\b${name}\\b`).test(section('Rules of your own')))).toEqual([]);
});

test('every provider’s file names where its facts come from', () => {
  const folder = resolve(import.meta.dirname, '../packages/recoup/src/decoders/providers');
  const named = PROVIDERS.filter((name) => name !== 'generic');
  const first = named.map((name) => readFileSync(`${folder}/${name}.ts`, 'utf8').split('\n')[0]!);
  expect(first.filter((line) => !/Source: [\w.-]+\.\w+\//.test(line))).toEqual([]);
});
