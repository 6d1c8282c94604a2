// An operation and its input as the HTTP request that asks for it: for the command line, and for tests.
import type { Method, Operation } from './operation.ts';

export interface Request {
  method: Method;
  /** With its query. */
  path: string;
  body: string | undefined;
}

/** A dot segment as an id that is refused where it arrives. It arrives only as it is written: `fetch` eats `%2E%2E` as it eats `..`. */
const segment = (value: unknown) => {
  const text = String(value);
  return text === '.' || text === '..' ? text.replaceAll('.', '%2E') : encodeURIComponent(text);
};

/** Each field goes where its schema stands: path, query or body; what no schema knows goes into the body, to be refused there. */
export function requestOf(operation: Operation, input: Record<string, unknown>): Request {
  const rest = { ...input };
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return segment(value ?? '');
  });
  const query = new URLSearchParams();
  for (const name of Object.keys(operation.body ? operation.query.properties : rest)) {
    if (rest[name] !== undefined) query.append(name, String(rest[name]));
    delete rest[name];
  }
  return {
    method: operation.method,
    path: query.size > 0 ? `${path}?${query}` : path,
    body: operation.body ? JSON.stringify(rest) : undefined,
  };
}
