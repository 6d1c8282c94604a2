// Operations as commands: `recoup wallets grant <wallet> <key> --amount 100`, made from the list and its schemas.
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { InvalidInput } from 'recoup';
import type { Operation } from '../operations/operation.ts';
import { kebab, SETTINGS } from './settings.ts';

type Schema = { type?: string; description?: string; enum?: string[]; anyOf?: Schema[]; items?: Schema };
export type Run = (
  operation: Operation,
  input: Record<string, unknown>,
  options: Record<string, unknown>,
) => Promise<void>;

/** Global options have these names: an operation's own field of that name gets `-value` behind it. */
const TAKEN = new Set(['json', 'config', ...Object.keys(SETTINGS).map(kebab)]);
const flagOf = (field: string) => (TAKEN.has(kebab(field)) ? `${kebab(field)}-value` : kebab(field));
const attributeOf = (field: string) => flagOf(field).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** What a text of the command line means to a schema: JSON where it is not a text; `@file` and `-` are read. */
export function readValue(field: string, schema: Schema, given: string): unknown {
  const kinds = schema.anyOf ?? [schema];
  if (given === 'null' && kinds.some(({ type }) => type === 'null')) return null;
  if (kinds.some(({ type }) => type === 'string')) return given;
  const text = textOf(field, given);
  const rule = `must be ${kinds.map(({ type }) => type ?? 'JSON').join(' or ')}; got ${shown(given)}`;
  if (kinds.some(({ type }) => type === 'integer')) {
    // Digits alone: 1e2 and 1.0 are numbers of JSON, and hardly what somebody means to charge.
    if (!/^-?\d+$/.test(text.trim())) throw new InvalidInput(field, `${rule}; digits alone`);
    return Number(text);
  }
  const list = kinds.find(({ type }) => type === 'array');
  if (list?.items?.type === 'string' && !text.trimStart().startsWith('[')) return text.split(',');
  try {
    return JSON.parse(text);
  } catch {
    if (kinds.some(({ type }) => type !== undefined)) throw new InvalidInput(field, rule);
    // A text is JSON for a field of any kind, once it is quoted; but not one that means to be JSON and has a slip in it.
    if (!/^\s*[[{"]/.test(text)) return text;
    throw new InvalidInput(field, `begins like JSON and is none; a text that begins so is given in quotes: '"…"'`);
  }
}

const shown = (given: string) => (given.length <= 60 ? JSON.stringify(given) : `a text of ${given.length} characters`);

function textOf(field: string, given: string): string {
  if (given !== '-' && !given.startsWith('@')) return given;
  const path = given.slice(1);
  try {
    return readFileSync(given === '-' ? 0 : path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new InvalidInput(field, `cannot be read: ${given === '-' ? 'the standard input' : path} (${code})`);
  }
}

function optionOf(field: string, schema: Schema, required: boolean): Option {
  const kinds = schema.anyOf ?? [schema];
  const { type } = kinds[0]!;
  const description = schema.description ?? kinds[0]!.description ?? '';
  const nullable = kinds.some((kind) => kind.type === 'null') && !/\bnull\b/.test(description) ? 'null: none.' : '';
  const note = [description, nullable, required ? '(required)' : ''].filter(Boolean).join(' ');
  if (type === 'boolean')
    return new Option(`--${flagOf(field)} [true|false]`, note).choices(['true', 'false']).preset('true');
  const option = new Option(`--${flagOf(field)} <${placeholderOf(field, kinds[0]!)}>`, note);
  return schema.enum ? option.choices(schema.enum) : option;
}

/** What stands for the value: `--queue <name>`, `--price <integer>`, `--payload <json>`. */
function placeholderOf(field: string, { type, items }: Schema): string {
  if (field === 'queue') return 'name';
  if (type === 'string' || type === 'integer') return type;
  return type === 'array' && items?.type === 'string' ? 'a,b,…' : 'json';
}

/** Adds `aggregate verb` for each operation that a person or a script may ask for. */
export function addOperations(program: Command, operations: readonly Operation[], run: Run): void {
  const groups = new Map<string, Command>();
  for (const operation of operations) {
    // Webhooks carry their sender's signature: nothing for a command line.
    if (operation.scopes === 'signature') continue;
    const [aggregate, verb] = operation.name.split('.') as [string, string];
    const group = groups.get(aggregate) ?? program.command(kebab(aggregate)).helpGroup('Operations:');
    groups.set(aggregate, group);
    addCommand(group, verb, operation, run);
  }
  for (const group of groups.values()) group.description(group.commands.map((one) => one.name()).join(', '));
}

/** What a command that asks for a confirmed count would do, by the operation that says so. */
export const previewOf = ({ name }: Operation): string | undefined =>
  ({ 'deadLetters.redriveAll': 'deadLetters.preview', 'probes.recheck': 'probes.preview' })[name];

function addCommand(group: Command, verb: string, operation: Operation, run: Run): void {
  // `recoup pools`, `recoup inbox` and `recoup alerts` alone are questions that one answer fits.
  const isDefault = ['pools.list', 'inbox.list', 'alerts.list'].includes(operation.name);
  const command = group.command(kebab(verb), { isDefault }).description(operation.summary);
  const params = Object.keys(operation.params.properties);
  for (const name of params)
    command.argument(`<${kebab(name)}>`, (operation.params.properties[name] as Schema).description);
  const others = { ...operation.query.properties, ...operation.body?.properties } as Record<string, Schema>;
  const required = [...(operation.query.required ?? []), ...(operation.body?.required ?? [])];
  for (const [field, schema] of Object.entries(others)) {
    command.addOption(optionOf(field, schema, required.includes(field)));
  }
  // A stand-in for the operation that previews it; others have a `dryRun` of their own.
  const previews = previewOf(operation) !== undefined;
  if (previews) command.option('--dry-run', 'say what it would do, change nothing');
  command.action(async (...given: unknown[]) => {
    const options = (given.at(-1) as Command).opts() as Record<string, unknown>;
    const input: Record<string, unknown> = {};
    params.forEach((name, index) => {
      input[name] = readValue(name, operation.params.properties[name] as Schema, String(given[index]));
    });
    for (const [field, schema] of Object.entries(others)) {
      const value = options[attributeOf(field)];
      if (value !== undefined) input[field] = readValue(field, schema, String(value));
      else if (required.includes(field) && !(previews && options.dryRun))
        throw new InvalidInput(field, `is required: --${flagOf(field)}`);
    }
    await run(operation, input, options);
  });
}
