// Input held to the schemas of its operation where no HTTP server does it.
import { InvalidInput } from 'recoup';
import Value from 'typebox/value';
import type { Operation } from './operation.ts';

/** Refuses the first field whose value its schema does not take. */
export function checkFields(operation: Operation, input: Record<string, unknown>): void {
  const { params, query, body } = operation;
  for (const [name, schema] of Object.entries({ ...params.properties, ...query.properties, ...body?.properties })) {
    const value = input[name];
    const [error] = value === undefined ? [] : Value.Errors(schema, value);
    if (!error) continue;
    const inside = error.instancePath.split('/').slice(1);
    const path = inside.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`)).join('');
    throw new InvalidInput(`${name}${path}`, error.message);
  }
}
