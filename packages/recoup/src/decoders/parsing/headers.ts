// Headers of any shape as one look-up by lower-case name; the first value of a name counts.
import type { HeadersLike } from '../facts/facts.ts';

const MAX_HEADERS = 500;
const MAX_VALUE = 1000;

export type HeaderReader = ReadonlyMap<string, string>;

/** A Map, so that a header named `__proto__` is a header. What is no text or number is left out. */
export function headersOf(given: HeadersLike | null | undefined): HeaderReader {
  const headers = new Map<string, string>();
  const add = (name: unknown, value: unknown) => {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof name !== 'string' || headers.size >= MAX_HEADERS) return;
    if (typeof first !== 'string' && typeof first !== 'number') return;
    const key = name.slice(0, MAX_VALUE).toLowerCase();
    if (!headers.has(key)) headers.set(key, String(first).slice(0, MAX_VALUE).trim());
  };
  if (typeof given !== 'object' || given === null) return headers;
  if (Symbol.iterator in given) {
    let left = MAX_HEADERS;
    for (const pair of given as Iterable<unknown>) {
      if (Array.isArray(pair)) add(pair[0], pair[1]);
      if (--left === 0) break;
    }
  } else if (typeof (given as { forEach?: unknown }).forEach === 'function' && !Object.hasOwn(given, 'forEach')) {
    (given as { forEach(each: (value: string, name: string) => void): void }).forEach((value, name) => {
      add(name, value);
    });
  } else {
    for (const [name, value] of Object.entries(given)) add(name, value);
  }
  return headers;
}
