// The one loop that runs the sweeps: on every replica at once, asleep until the next instant at which something is due.

import { asRefusal } from '../db/failures.ts';
import type { Runner } from '../db/runner.ts';
import { nextDue } from '../jobs/queries.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import type { Waking } from '../waking.ts';
import { sweepDeliveries } from './deliveries.ts';
import { sweepExpired } from './expired.ts';
import { sweepLapsed } from './lapsed.ts';
import { sweepLeaseRequests } from './lease-requests.ts';
import { sweepPruned } from './pruned.ts';
import { sweepSubscriptions } from './subscriptions.ts';
import { sweepUpstreams } from './upstream-leases.ts';
import { sweepWindows } from './windows.ts';

export interface SweepOptions {
  subscriptions: Subscriptions;
  /** Fires and ends alerts. */
  lookAtAlerts: () => Promise<unknown>;
  /** The longest sleep, in ms: the correctness path, since nothing tells of leases taken elsewhere. */
  capMs: number;
  /** Prune jobs that ended longer ago than this; null: never. */
  pruneAfterMs: number | null;
  /** Told of rows that a sweep could not handle, and of failed passes. */
  onError: (error: Error) => void;
  /** Told of each pass that came to its end. */
  onSweep: (swept: Swept) => void;
}

/** What one pass did. */
export interface Swept {
  lapsed: number;
  /** Subscriptions that came to their next period, or to their end. */
  turned: number;
  /** Entries of credit that expired. */
  expired: number;
  pruned: number;
  /** Rows that stood alone with an error: reported, and passed over until the next pass. */
  failed: number;
}

/** How often the loop looks at alerts: it reads every limit and every open block. */
const ALERTS_MS = 15_000;

/** The key that the loop sleeps on: no queue has it. */
const SLEEPER = '*';

export class Sweeper {
  readonly #runner: Runner;
  readonly #waking: Waking;
  readonly #wake: (queue: string) => void;
  readonly #options: SweepOptions;
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(runner: Runner, waking: Waking, options: SweepOptions) {
    this.#runner = runner;
    this.#waking = waking;
    this.#wake = (queue) => waking.wake(queue);
    this.#options = options;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  /** One pass over everything that is due now; `alerts`: whether alerts are looked at too. */
  async pass(alerts = true): Promise<Swept> {
    const onError = this.#options.onError;
    const lapsed = await sweepLapsed(this.#runner, { onError, wake: this.#wake, signal: this.#stop.signal });
    const { turned, failed: unturned } = await sweepSubscriptions(
      this.#runner,
      this.#options.subscriptions,
      this.#stop.signal,
      onError,
    );
    const credit = await sweepExpired(this.#runner, this.#stop.signal, onError);
    const pruned = await sweepPruned(this.#runner, this.#options.pruneAfterMs, this.#stop.signal);
    await sweepLeaseRequests(this.#runner);
    const failed = await sweepUpstreams(this.#runner, this.#stop.signal, onError);
    await sweepWindows(this.#runner, this.#stop.signal);
    await sweepDeliveries(this.#runner);
    if (alerts) await this.#options.lookAtAlerts();
    const swept = {
      lapsed: lapsed.done,
      expired: credit.expired,
      turned,
      failed: lapsed.failed + unturned + credit.failed + failed,
      pruned,
    };
    this.#options.onSweep(swept);
    return swept;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let lookedAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      let sleepMs = this.#options.capMs;
      try {
        const alerts = performance.now() - lookedAt >= ALERTS_MS;
        if (alerts) lookedAt = performance.now();
        const swept = await this.pass(alerts);
        const [next] = await this.#runner.read(nextDue, [{}]);
        // What is due and was not handled (a held wallet, a bad row) waits for the cap: no spinning on it.
        if (
          next?.inMs !== null &&
          next?.inMs !== undefined &&
          (next.inMs > 0 || swept.lapsed + swept.turned + swept.expired > 0)
        ) {
          sleepMs = Math.min(Math.max(next.inMs, 10), sleepMs);
        }
      } catch (error) {
        if (!signal.aborted) this.#options.onError(asRefusal(error, false));
      }
      await this.#waking.wait(SLEEPER, sleepMs, signal);
    }
  }
}
