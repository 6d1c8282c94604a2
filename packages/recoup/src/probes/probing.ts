// The loop that asks: on every replica that can, asleep until the next block is due, a few questions at once.
import { asRefusal } from '../db/failures.ts';
import type { Runner } from '../db/runner.ts';
import type { Waking } from '../waking.ts';
import type { Asking, ProbeOutcome } from './asking.ts';
import { type ClaimedRow, claimProbes, lapseProbes } from './claim.ts';
import { nextProbe } from './queries.ts';

export interface ProbingOptions {
  /** Who asks, for people. */
  holder: string;
  /** The longest sleep, in ms. */
  capMs: number;
  /** Questions at once, from here. */
  atOnce: number;
  onError: (error: Error) => void;
}

/** What a round came to. */
export interface Probed {
  asked: number;
  yes: number;
  no: number;
  unavailable: number;
  /** Answers that changed nothing. */
  ignored: number;
}

/** The key that the loop sleeps on: no queue has it. */
export const ASKER = '*probes';

const LAPSED = 1000;
const FIELD = {
  confirmed: 'yes',
  denied: 'no',
  unavailable: 'unavailable',
  superseded: 'ignored',
  lapsed: 'ignored',
} as const;

export class Probing {
  readonly #runner: Runner;
  readonly #waking: Waking;
  readonly #asking: Asking;
  readonly #options: ProbingOptions;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #loop: Promise<void> | undefined;

  constructor(runner: Runner, waking: Waking, asking: Asking, options: ProbingOptions) {
    this.#runner = runner;
    this.#waking = waking;
    this.#asking = asking;
    this.#options = options;
  }

  start(): void {
    if (!this.#asking.able) return;
    this.#waking.listen();
    this.#loop ??= this.#run();
  }

  /** Takes nothing more. What is under way is left: its lease lapses, and another replica asks. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    await Promise.all(this.#running);
  }

  /** Asks everything that is due now, and waits for the answers. */
  async round(): Promise<Probed> {
    const probed: Probed = { asked: 0, yes: 0, no: 0, unavailable: 0, ignored: 0 };
    while (!this.#stop.signal.aborted) {
      const claims = await this.#claim(this.#options.atOnce);
      if (claims.length === 0) break;
      const outcomes = await Promise.all(claims.map((claim) => this.#asking.ask(claim, this.#stop.signal)));
      probed.asked += claims.length;
      for (const outcome of outcomes) if (outcome !== null) probed[FIELD[outcome]] += 1;
    }
    return probed;
  }

  async #claim(count: number): Promise<(ClaimedRow & { probe: number })[]> {
    const { signal } = this.#stop;
    await this.#runner.read(lapseProbes, [{ count: LAPSED }]);
    for (;;) {
      const rows = await this.#runner.read(claimProbes, [
        { ...this.#asking.with, holder: this.#options.holder, count },
      ]);
      for (const { outcome, policy } of rows) {
        this.#runner.observe('probe.claim', outcome);
        if (outcome !== 'claimed') this.#runner.observe('block.recover', outcome, { policy });
      }
      const claimed = rows.filter((row): row is ClaimedRow & { probe: number } => row.probe !== null);
      // What was passed over took places of what may be asked.
      if (claimed.length > 0 || rows.length === 0 || signal.aborted) return claimed;
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const seen = this.#waking.count(ASKER);
      let sleepMs = this.#options.capMs;
      try {
        const free = this.#options.atOnce - this.#running.size;
        const claims = free > 0 ? await this.#claim(free) : [];
        for (const claim of claims) this.#ask(claim);
        // There may be more: at once where there is a place, else as soon as there is one.
        if (claims.length > 0 && claims.length < free) sleepMs = 0;
        const [next] = await this.#runner.read(nextProbe, [{}]);
        if (typeof next?.inMs === 'number') sleepMs = Math.min(sleepMs, Math.max(next.inMs, 1));
      } catch (error) {
        if (!signal.aborted) this.#options.onError(asRefusal(error, false));
      }
      if (sleepMs > 0) await this.#waking.wait(ASKER, sleepMs, signal, seen);
    }
  }

  #ask(claim: ClaimedRow & { probe: number }): void {
    const asking: Promise<void> = this.#asking
      .ask(claim, this.#stop.signal)
      .then(
        (outcome: ProbeOutcome | null) => void outcome,
        (error: unknown) => this.#options.onError(asRefusal(error, false)),
      )
      .finally(() => {
        this.#running.delete(asking);
        this.#waking.here(ASKER);
      });
    this.#running.add(asking);
  }
}
