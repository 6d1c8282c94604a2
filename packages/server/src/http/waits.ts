// Requests that wait: each ends when its client is gone or the server stops, and only so many wait at once.
import type { ServerResponse } from 'node:http';
import { Refusal } from 'recoup';

export interface Wait {
  readonly signal: AbortSignal;
  end(): void;
}

const NEVER: Wait = { signal: new AbortController().signal, end() {} };

export class Waits {
  readonly #max: number;
  readonly #open = new Set<AbortController>();
  #stopped = false;

  constructor(max: number) {
    this.#max = max;
  }

  /** How many wait now. */
  get count(): number {
    return this.#open.size;
  }

  /** A request begins; `waits`: it may take long. Refuses `rate_limited`. */
  begin(response: ServerResponse, waits: boolean): Wait {
    if (!waits) return NEVER;
    if (this.#open.size >= this.#max) throw new Refusal('rate_limited', undefined, { limit: this.#max });
    const controller = new AbortController();
    if (this.#stopped) controller.abort();
    this.#open.add(controller);
    // Also fires after the answer was sent, when nobody listens to the signal any more.
    const gone = () => controller.abort();
    response.once('close', gone);
    return {
      signal: controller.signal,
      end: () => {
        response.off('close', gone);
        this.#open.delete(controller);
      },
    };
  }

  /** Ends all waits; what begins afterwards does not wait. */
  stop(): void {
    this.#stopped = true;
    for (const controller of this.#open) controller.abort();
  }
}
