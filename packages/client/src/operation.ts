// An operation of the service and its input as a request; what the input types and answers of an operation are.

import { RecoupError } from './errors.ts';
import type { operations } from './generated/openapi.ts';
import { OPERATIONS } from './generated/operations.ts';

/** A row of the table that is generated from the OpenAPI document. */
export interface Operation {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query: readonly string[];
  readonly body?: 'fields' | 'whole';
  readonly maxBytes?: number;
  readonly stream?: 'sse' | 'ndjson';
  readonly page?: string;
  readonly repeatable?: false;
  /** Fields of the path that are integers. */
  readonly integers?: readonly string[];
}

/** `aggregate.verb`, as in the OpenAPI document. */
export type OperationName = keyof typeof OPERATIONS & keyof operations;
type Row<N extends OperationName> = (typeof OPERATIONS)[N];

type Fields<T> = [NonNullable<T>] extends [never] ? unknown : NonNullable<T>;
type Body<N extends OperationName> =
  Row<N> extends { body: 'fields' }
    ? NonNullable<operations[N]['requestBody']> extends { content: { 'application/json': infer B } }
      ? B
      : never
    : Row<N> extends { body: 'whole' }
      ? { /** As it was signed: the text, or what JSON makes of an object. */ body: string | Record<string, unknown> }
      : unknown;
type Flat<T> = { [K in keyof T]: T[K] };

/** What an operation takes: the fields of its path, its query and its body in one object. */
export type Input<N extends OperationName> = Flat<
  Fields<operations[N]['parameters']['path']> & Fields<operations[N]['parameters']['query']> & Body<N>
>;

type Content<N extends OperationName> = operations[N]['responses'][200] extends { content: infer C }
  ? C[keyof C]
  : never;

/** What an operation answers; of a stream: what each line or event of it carries. */
export type Output<N extends OperationName> = Content<N>;

/** What the pages of an operation list. */
export type Item<N extends OperationName> =
  Row<N> extends { page: infer P extends string }
    ? Output<N> extends { [K in P]: readonly (infer T)[] }
      ? T
      : never
    : never;

export type StreamName = { [N in OperationName]: Row<N> extends { stream: string } ? N : never }[OperationName];
export type PageName = { [N in OperationName]: Row<N> extends { page: string } ? N : never }[OperationName];

export const rowOf = (name: OperationName): Operation => OPERATIONS[name];

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
}

/** Each field goes where the operation has it: path, query or body. Refuses `invalid` where the path cannot be made. */
export function requestOf(row: Operation, input: Readonly<Record<string, unknown>>): Request {
  const rest: Record<string, unknown> = { ...input };
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return segment(name, value, row.integers?.includes(name) ?? false);
  });
  const query = new URLSearchParams();
  // Where there is no body, what is not known goes into the query: the service refuses it by name.
  for (const name of row.body ? row.query : Object.keys(rest)) {
    const value = rest[name];
    if (value !== undefined) query.append(name, value instanceof Date ? value.toISOString() : String(value));
    delete rest[name];
  }
  return {
    method: row.method,
    path: query.size > 0 ? `${path}?${query}` : path,
    body: row.body === undefined ? undefined : bodyOf(row.body === 'whole' ? rest.body : rest, row.maxBytes!),
  };
}

function bodyOf(value: unknown, maxBytes: number): string {
  const text = typeof value === 'string' ? value : jsonOf(value);
  // Sent, it would be cut off before the answer that says why: it would look like a network that fails.
  if (text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes) {
    throw new RecoupError('too_large', `The body is larger than ${maxBytes} bytes.`, {
      status: 413,
      details: { maxBytes },
    });
  }
  return text;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value, finite);
  } catch (cause) {
    throw invalid('body', `must be JSON: ${cause instanceof Error ? cause.message : cause}`);
  }
}

/** JSON would make null of them, and nobody would know. */
function finite(field: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${field} is ${value}`);
  return value;
}

/** An id as a part of the path. Dots alone are no id of the service's, and URL parsers eat them, encoded or not. */
function segment(name: string, value: unknown, integer: boolean): string {
  if (integer) {
    if (!Number.isSafeInteger(value)) throw invalid(name, 'must be an integer');
    return String(value);
  }
  if (typeof value !== 'string' || value === '') throw invalid(name, 'must be a text that is not empty');
  if (value === '.' || value === '..') throw invalid(name, 'must not be "." or ".."');
  if (!value.isWellFormed()) throw invalid(name, 'must be valid Unicode');
  return encodeURIComponent(value);
}

export const invalid = (field: string, rule: string) =>
  new RecoupError('invalid', `${field}: ${rule}`, { status: 400, details: { field, rule } });
