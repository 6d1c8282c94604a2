// Reading an object of a caller's, whose own code may throw.
import { InvalidInput } from './errors.ts';

/** Reads what a caller gave: an object whose own code throws (a getter, a proxy) is his mistake. */
export function readable<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidInput) throw error;
    throw new InvalidInput(field, 'cannot be read: a getter of it throws', { cause: error });
  }
}
