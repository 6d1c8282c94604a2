// The lease of an attempt, kept for as long as it runs, and told lost when nothing was heard for its whole length.
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../errors.ts';

export interface Lease {
  /** Its length, in ms. */
  length: number;
  /** Extends it once. */
  extend: () => Promise<{ outcome: string }>;
  /** The run is over, or the lease is somebody else's business now. */
  ended: () => boolean;
  /** Hears each answer of `extend`. */
  onOutcome: (outcome: string) => void;
  /** Hears that another attempt may be running. */
  onLost: () => void;
  onError: (error: Error) => void;
}

const unheard = (): never => {
  throw new Refusal('database_unavailable', 'An extension of a lease was not answered in time.');
};

/**
 * Extends at a third of the lease, and waits as long for each answer. Where none comes for the length of a lease, the run
 * must assume that it is lost: a clock of its own says so, because a silent network makes no call fail. Only durations
 * are measured here: instants are the database's.
 */
export function keepLease({ length, extend, ended, onOutcome, onLost, onError }: Lease): { stop(): Promise<void> } {
  const stop = new AbortController();
  const pause = (ms: number) => sleep(ms, undefined, { signal: stop.signal, ref: false });
  let lost: NodeJS.Timeout | undefined;
  const heard = (at: number) => {
    clearTimeout(lost);
    lost = setTimeout(() => ended() || onLost(), Math.max(length - (performance.now() - at), 0)).unref();
  };
  const loop = async () => {
    heard(performance.now());
    while (!ended()) {
      await pause(length / 3);
      if (ended()) return;
      const asked = performance.now();
      try {
        const { outcome } = await Promise.race([extend(), pause(Math.max(length / 3, 100)).then(unheard)]);
        if (ended()) return;
        if (outcome === 'extended') heard(asked);
        onOutcome(outcome);
      } catch (error) {
        if (ended()) return;
        if (!(error instanceof Refusal && error.retryable)) onError(error as Error);
      }
    }
  };
  const running = loop()
    .catch(() => {})
    .finally(() => clearTimeout(lost));
  return {
    stop: () => {
      stop.abort();
      return running;
    },
  };
}
