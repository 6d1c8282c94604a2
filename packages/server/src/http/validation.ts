// Input checks at the door: query texts read strictly, and what a schema refuses said as field and rule.
import type { FastifySchemaValidationError } from 'fastify';
import { InvalidInput } from 'recoup';
import type { TObject } from 'typebox';
import type { Operation } from '../operations/operation.ts';

const INTEGER = /^-?(0|[1-9]\d{0,15})$/;

/** Query values as their schema wants them. What does not read stays a text, for the schema to refuse. */
export function readQuery(schema: TObject, query: Record<string, unknown>): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string') throw new InvalidInput(name, 'must be given once');
    const type = (schema.properties[name] as { type?: string } | undefined)?.type;
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
  if (typeof missingProperty === 'string')
    return new InvalidInput(fieldName([...parts, missingProperty]), 'is required');
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

const fieldName = (parts: readonly string[]) =>
  parts.map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 60
    ? text
    : Array.isArray(value)
      ? 'an array'
      : `a ${typeof value} of ${text.length} characters`;
}
