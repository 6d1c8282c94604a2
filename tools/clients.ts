// What the clients take from the OpenAPI document: the types and the table of operations for TypeScript, typed methods for Python.
import openapiTypescript, { astToString } from 'openapi-typescript';
import { openapi } from '../packages/server/src/http/openapi.ts';
import { operations } from '../packages/server/src/operations/operations.ts';
import { pythonFiles } from './python-client.ts';

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
export type Json = any;

/** One operation as a client asks for it. */
export interface ClientOperation {
  name: string;
  summary: string;
  method: string;
  path: string;
  query: string[];
  /** `fields`: what is neither in the path nor in the query. `whole`: a body as somebody else documents it. */
  body?: 'fields' | 'whole';
  maxBytes?: number;
  stream?: 'sse' | 'ndjson';
  /** The list of a page that carries a cursor. */
  page?: string;
  repeatable?: false;
  /** Fields of the path that are integers. */
  integers?: string[];
}

const STREAMS: Record<string, 'sse' | 'ndjson'> = { 'text/event-stream': 'sse', 'application/x-ndjson': 'ndjson' };

/** A schema, or what its reference names. */
export function resolve(document: Json, schema: Json): Json {
  const name = schema?.$ref?.split('/').at(-1);
  return name === undefined ? schema : document.components.schemas[name];
}

export const bodyOf = (operation: Json): Json => operation.requestBody?.content['application/json'].schema;
/** The media type and the schema of the answer. */
export const answerOf = (operation: Json) => Object.entries<Json>(operation.responses[200].content)[0]!;

function clientOperation(document: Json, path: string, method: string, operation: Json): ClientOperation {
  const query = operation.parameters.filter((one: Json) => one.in === 'query').map((one: Json) => one.name);
  const integers = operation.parameters
    .filter((one: Json) => one.in === 'path' && one.schema.type === 'integer')
    .map((one: Json) => one.name);
  const body = bodyOf(operation);
  const kind = Object.keys(body?.properties ?? {}).length > 0 ? 'fields' : body?.additionalProperties ? 'whole' : null;
  const [type, { schema }] = answerOf(operation);
  const properties = Object.entries<Json>(resolve(document, schema).properties ?? {});
  const list = query.includes('cursor') ? properties.find(([, property]) => property.type === 'array')?.[0] : undefined;
  return {
    name: operation.operationId,
    summary: operation.summary,
    method: method.toUpperCase(),
    path,
    query,
    ...(kind ? { body: kind, maxBytes: operation.requestBody['x-recoup-max-bytes'] } : {}),
    ...(STREAMS[type] ? { stream: STREAMS[type] } : {}),
    ...(list ? { page: list } : {}),
    ...(operation['x-recoup-repeatable'] === false ? { repeatable: false } : {}),
    ...(integers.length > 0 ? { integers } : {}),
  };
}

const NOTE =
  'Written by `npm run docs` from the OpenAPI document of the service: change the operations, not this file.';

function typescriptTable(table: readonly ClientOperation[]): string {
  const rows = table.map(({ name, summary: _, ...row }) => `  '${name}': ${JSON.stringify(row)},`);
  return [
    `// ${NOTE}`,
    'export const OPERATIONS = {',
    ...rows,
    "} as const satisfies Record<string, import('../operation.ts').Operation>;",
    '',
  ].join('\n');
}

/** Without the problems and the 201s: they are the same everywhere, or the same as the 200. */
function answersOnly(document: Json): Json {
  const copy = structuredClone(document);
  for (const methods of Object.values<Json>(copy.paths)) {
    for (const operation of Object.values<Json>(methods)) operation.responses = { 200: operation.responses[200] };
  }
  return copy;
}

/** Path in the repository to text. */
export async function generatedClients(): Promise<Record<string, string>> {
  const document = JSON.parse(JSON.stringify(openapi(operations))) as Json;
  const table = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => clientOperation(document, path, method, operation)),
  );
  const types = astToString(await openapiTypescript(answersOnly(document)));
  const python = Object.entries(pythonFiles(document, table, NOTE));
  return {
    'packages/client/src/generated/openapi.ts': `// ${NOTE}\n${types}`,
    'packages/client/src/generated/operations.ts': typescriptTable(table),
    ...Object.fromEntries(python.map(([name, text]) => [`clients/python/src/recoup/${name}`, text])),
  };
}
