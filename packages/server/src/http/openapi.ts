// The OpenAPI 3.1 document: made from the list of operations, with the same schemas that validate.
import { readFileSync } from 'node:fs';
import { type ErrorCode, errors } from 'recoup';
import { BODY_ERRORS, bodyLimit, COMMON_ERRORS, type Operation } from '../operations/operation.ts';

type Json = Record<string, unknown>;

const PROBLEM: Json = {
  type: 'object',
  description: 'RFC 9457, with a stable code and the facts of the refusal as further members. Nothing was changed.',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
  properties: {
    type: { type: 'string', format: 'uri-reference', description: 'Where the code is explained.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { type: 'string', enum: Object.keys(errors) },
    requestId: { type: 'string' },
    field: { type: 'string', description: 'The field that is wrong, with code `invalid`.' },
    rule: { type: 'string', description: 'What is allowed in it.' },
  },
  additionalProperties: true,
};

const TAGS: Record<string, string> = {
  wallets: 'Balances and the entries behind them.',
  plans: 'What a period of a subscription grants.',
  subscriptions: 'Subscriptions: at most one of a customer lives.',
  payments: 'What providers of payments say, and the credit that follows.',
  jobs: 'Priced pieces of work: submit, signals, reads.',
  upstreamRefs: 'Signals by the reference that an upstream gave.',
  queues: 'Work for workers in any language, and the settings of queues.',
  upstreams: 'Accounts at providers: select, report, and what is known of them.',
  blocks: 'What keeps upstreams out.',
  probes: 'Asking whether upstreams work again.',
  limits: 'What upstreams may use in a window, by us.',
  inbox: 'What needs a person.',
  pools: 'Upstreams of one kind, together.',
  deadLetters: 'Jobs that will not run again by themselves.',
  feed: 'Everything that happened, in one order.',
  epochs: 'What a restore or a failover made of the ledger.',
  keys: 'API keys.',
  callbacks: 'Signed callback URLs.',
  webhooks: 'What providers call.',
  system: 'The whole.',
};

/** Moves every schema with a title into the components and leaves a reference. */
function hoist(schema: unknown, components: Json): unknown {
  if (Array.isArray(schema)) return schema.map((part) => hoist(part, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, hoist(value, components)]));
  const { title, ...rest } = inner;
  if (typeof title !== 'string' || inner.type === undefined) return inner;
  components[title] = rest;
  return { $ref: `#/components/schemas/${title}` };
}

function parameters(operation: Operation, components: Json): Json[] {
  return (['path', 'query'] as const).flatMap((where) => {
    const schema = where === 'path' ? operation.params : operation.query;
    return Object.entries(schema.properties).map(([name, property]) => {
      const { description, ...rest } = property as Json;
      const required = where === 'path' || (schema.required ?? []).includes(name);
      return { name, in: where, required, ...(description ? { description } : {}), schema: hoist(rest, components) };
    });
  });
}

const RETRY_AFTER = { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } } };

function problems(operation: Operation): Json {
  // Every method but GET may come with a body, also where none is read.
  const body = operation.method === 'GET' ? [] : BODY_ERRORS;
  // What a key that is bound to a customer hears of the wallets of others.
  const bound: ErrorCode[] =
    'wallet' in operation.params.properties && operation.scopes.includes('viewer') ? ['no_wallet'] : [];
  const codes = [...new Set<ErrorCode>([...COMMON_ERRORS, ...body, ...bound, ...operation.errors])];
  // `forbidden` is also what a page of another origin hears.
  const own = operation.scopes === 'signature' ? codes.filter((code) => code !== 'unauthorized') : codes;
  const statuses = [...new Set(own.map((code) => errors[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const here = own.filter((code) => errors[code].status === status);
      const description = here.map((code) => `\`${code}\`: ${errors[code].sentence}`).join(' ');
      return [
        String(status),
        {
          description,
          ...(status === 429 || status === 503 ? { headers: RETRY_AFTER } : {}),
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      ];
    }),
  );
}

function answers(operation: Operation, components: Json): Json {
  const type =
    { sse: 'text/event-stream', ndjson: 'application/x-ndjson' }[operation.stream as 'sse'] ?? 'application/json';
  const content = { [type]: { schema: hoist(operation.output, components) } };
  const headers = operation.retryAfter ? { headers: RETRY_AFTER } : {};
  const ok = {
    200: { description: operation.created ? 'It was there already, just so.' : 'Done.', ...headers, content },
  };
  return operation.created ? { ...ok, 201: { description: `Made: \`${operation.created}\`.`, content } } : ok;
}

function described(operation: Operation, components: Json): Json {
  const { name, summary, description, scopes, body } = operation;
  const needs =
    scopes === 'signature' ? 'No key: it carries its own proof.' : `Scopes: ${[...scopes, 'admin'].join(', ')}.`;
  return {
    operationId: name,
    summary,
    description: [description, needs].filter(Boolean).join('\n\n'),
    tags: [name.split('.')[0]],
    // For clients that are made from this document: everything else may be repeated after a lost answer.
    ...(operation.repeatable === false ? { 'x-recoup-repeatable': false } : {}),
    ...(scopes === 'signature' ? { security: [] } : {}),
    parameters: parameters(operation, components),
    ...(body
      ? {
          requestBody: {
            'x-recoup-max-bytes': bodyLimit(operation),
            required: (body.required ?? []).length > 0 || scopes === 'signature',
            content: { 'application/json': { schema: hoist(body, components) } },
          },
        }
      : {}),
    responses: { ...answers(operation, components), ...problems(operation) },
  };
}

/** The document of a list of operations. */
export function openapi(operations: readonly Operation[]): Json {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const components: Json = { Problem: PROBLEM };
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    paths[operation.path] ??= {};
    paths[operation.path]![operation.method.toLowerCase()] = described(operation, components);
  }
  const used = new Set(operations.map((operation) => operation.name.split('.')[0]!));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Recoup',
      version: manifest.version,
      description: 'Charge for AI jobs exactly once: credits, jobs and retries in one PostgreSQL transaction.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    tags: [...used].map((name) => ({ name, description: TAGS[name] ?? name })),
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key: `rcp_…`. On loopback none is needed.' },
      },
    },
  };
}
