// Input checks at the door: query texts read strictly, and what a schema refuses said as field and rule.
import type { FastifySchemaValidationError } from 'fastify';
import { InvalidInput } from 'recoup';
import type { TObject } from 'typebox';
import type { Operation } from '../operations/operation.ts';

const INTEGER = /^-?(0|[1-9]\d{0,15})$/;

const NOTHING = Object.freeze({});

/** Values of a query or a path as their schema wants them. What does not read stays a text, for the schema to refuse. */
export function readFields(schema: TObject, given: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(given);
  if (fields.length === 0) return NOTHING;
  // Without a prototype: `__proto__` is a name like any other, and unknown.
  const read: Record<string, unknown> = Object.create(null);
  for (const [name, value] of fields) {
    if (typeof value !== 'string') throw new InvalidInput(fieldName([name]), 'must be given once');
    const known = Object.hasOwn(schema.properties, name) ? (schema.properties[name] as { type?: string }) : undefined;
    const type = known?.type;
    if (type === 'integer' && INTEGER.test(value)) read[name] = Number(value);
    else if (type === 'boolean' && (value === 'true' || value === 'false')) read[name] = value === 'true';
    else read[name] = value;
  }
  return read;
}

/** The first thing that a schema refused. */
export function invalidInput(
  error: FastifySchemaValidationError,
  operation: Operation,
  where: 'params' | 'query' | 'body',
  value: unknown,
): InvalidInput {
  const parts = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty, allowedValues } = error.params as Record<string, unknown>;
  if (typeof missingProperty === 'string') {
    const field = fieldName([...parts, missingProperty]);
    // A name that is misspelt is what is missing, most of the time.
    const others = parts.length === 0 ? unknownOf(operation[where], value) : [];
    const beside = others.length === 0 ? '' : `; not a field of ${operation.name}: ${others.join(', ')}`;
    return new InvalidInput(field, `is required${beside}`);
  }
  if (typeof additionalProperty === 'string') {
    const known = parts.length === 0 ? `; known: ${Object.keys(operation[where]?.properties ?? {}).join(', ')}` : '';
    return new InvalidInput(fieldName([...parts, additionalProperty]), `is not a field of ${operation.name}${known}`);
  }
  const found = parts.reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], value);
  const rule = Array.isArray(allowedValues)
    ? `must be one of ${allowedValues.join(', ')}`
    : (error.message ?? 'is wrong');
  return new InvalidInput(parts.length === 0 ? where : fieldName(parts), `${rule}; got ${shown(found)}`);
}

function unknownOf(schema: TObject | null, value: unknown): string[] {
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return names
    .filter((name) => !Object.hasOwn(schema?.properties ?? {}, name))
    .slice(0, 3)
    .map(named);
}

const MAX_NAME = 100;
/** A name as it was sent: what is empty is seen, what is long is cut. */
const named = (part: string) =>
  part === '' ? '""' : part.length <= MAX_NAME ? part : `${part.slice(0, MAX_NAME).toWellFormed()}…`;
const fieldName = (parts: readonly string[]) =>
  parts.map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : `${index === 0 ? '' : '.'}${named(part)}`)).join('');

/** What was sent, for people. Never looked into: what is nested deeply has no end that can be reached. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `a ${typeof value} of ${text.length} characters`;
}
