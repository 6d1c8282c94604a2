// Waiting that ends with a signal, and how long to wait between tries.

/** Resolves after `ms`, or when the signal fires: who waits looks at the signal himself. */
export function sleep(ms: number, signal?: AbortSignal, options: { background?: boolean } = {}): Promise<void> {
  return new Promise((done) => {
    if (signal?.aborted) return done();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      done();
    };
    // Longer than what a timer holds would be no time at all.
    const timer = setTimeout(end, Math.min(ms, 2_147_483_647));
    // Where the runtime knows it: the process does not stay for this.
    if (options.background) (timer as unknown as { unref?(): void }).unref?.();
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** Capped exponential back-off: between half and all of 100, 200, 400 … 5,000 ms. */
export const backoffMs = (tries: number): number =>
  Math.min(100 * 2 ** Math.min(tries - 1, 10), 5000) * (0.5 + Math.random() / 2);

/** When to try again after this many tries; a Retry-After counts where it is later, with a little on top so that not all come at once. */
export const pauseMs = (tries: number, retryAfterMs = 0): number =>
  Math.max(backoffMs(tries), retryAfterMs * (1 + Math.random() / 4));
