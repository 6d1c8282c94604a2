// The sender of webhooks: finds what happened, takes what is due, sends it, says how it went. On every replica at once.
import { setTimeout as sleep } from 'node:timers/promises';
import { asRefusal, type Recoup } from 'recoup';
import { deliver } from './post.ts';

export interface SenderOptions {
  /** Send to loopback, private and link-local addresses too. */
  allowPrivate: boolean;
  /** How often it looks. */
  everyMs: number;
  /** How long a receiver may take; 15,000 unless set. */
  timeoutMs?: number;
  onError: (error: Error) => void;
}

/** Sent to one endpoint at once, from here. */
const AT_ONCE = 8;
/** Longer than a try takes with all around it: who has not reported by then is gone. */
const SPARE_MS = 45_000;

export class Sender {
  readonly #recoup: Recoup;
  readonly #options: Required<SenderOptions>;
  readonly #stop = new AbortController();
  /** Endpoints that are being sent to: a slow one holds up nothing but itself. */
  readonly #busy = new Map<string, Promise<void>>();
  #loop: Promise<void> | undefined;

  constructor(recoup: Recoup, options: SenderOptions) {
    this.#recoup = recoup;
    this.#options = { timeoutMs: 15_000, ...options };
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Takes nothing more, and waits for what is on its way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    await Promise.all(this.#busy.values());
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      let behind = false;
      await this.#guarded(async () => {
        behind = (await this.#recoup.webhooks.dispatch(signal)).more;
        for (const endpoint of await this.#recoup.webhooks.due()) this.#send(endpoint);
      });
      if (!behind) await sleep(this.#options.everyMs, undefined, { signal }).catch(() => {});
    }
  }

  #send(endpoint: string): void {
    if (this.#busy.has(endpoint) || this.#stop.signal.aborted) return;
    const sending = this.#guarded(() => this.#drain(endpoint)).finally(() => this.#busy.delete(endpoint));
    this.#busy.set(endpoint, sending);
  }

  /** Sends what is due to an endpoint until nothing is. */
  async #drain(endpoint: string): Promise<void> {
    const { allowPrivate, timeoutMs } = this.#options;
    const { webhooks } = this.#recoup;
    while (!this.#stop.signal.aborted) {
      const taken = await webhooks.lease(endpoint, AT_ONCE, timeoutMs + SPARE_MS);
      if (taken.length === 0) return;
      await Promise.all(
        // What cannot be reported is sent again when its lease is over: with the same id.
        taken.map(async (delivery) => webhooks.report(await deliver(delivery, { allowPrivate, timeoutMs }))),
      );
    }
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.onError(asRefusal(error, false));
    }
  }
}
