// Callers' functions that are told of things: what they throw must not change what became of what they were told of.

/** The function, with what it throws given to `onError`. */
export function quiet<A extends unknown[]>(
  tell: (...args: A) => void,
  onError: (error: Error) => void,
): (...args: A) => void {
  return (...args) => {
    try {
      tell(...args);
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)));
    }
  };
}
