// Reading an object of a caller's, whose own code may throw.
import { InvalidInput } from './errors.ts';

/** Reads what a caller gave: an object whose own code throws (a getter, a proxy) is his mistake. */
export function readable<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unreadable(field, error);
  }
}

/** The same for each of some fields. One closure: one for each field was a twentieth of what a submit allocates. */
export function readEach(fields: readonly string[], read: (field: string) => void): void {
  let field = '';
  try {
    for (field of fields) read(field);
  } catch (error) {
    throw unreadable(field, error);
  }
}

const unreadable = (field: string, error: unknown): InvalidInput =>
  error instanceof InvalidInput
    ? error
    : new InvalidInput(field, 'cannot be read: a getter of it throws', { cause: error });
