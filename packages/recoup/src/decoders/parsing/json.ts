// Careful reading of JSON that somebody else wrote: own properties only, texts and lists bounded.

const MAX_TEXT = 4000;
const MAX_ITEMS = 64;

/** The value at a path of own properties; undefined where it does not lead anywhere. */
export function at(value: unknown, ...path: string[]): unknown {
  let here = value;
  for (const name of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, name)) return undefined;
    here = (here as Record<string, unknown>)[name];
  }
  return here;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text that is not empty, cut to 4,000 characters. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT) : undefined;

/** The first items of a list; none where it is no list. */
export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value.slice(0, MAX_ITEMS) as unknown[]) : [];
