// Selections of a handle: a few of a pool at a time, again where others held what was free, and when to come back where nothing is.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Runner } from '../db/runner.ts';
import { Refusal } from '../errors.ts';
import type { CapacityOutcome } from '../outcomes.ts';
import type { Estimate, Estimates } from './estimates.ts';
import { explained, instant, whenBack } from './explained.ts';
import type { selectInput } from './inputs.ts';
import { readNearest } from './pools.ts';
import { type SelectRow, selectFurther, selectUpstream } from './select.ts';
import { Turns } from './turns.ts';

export interface Selected {
  outcome: CapacityOutcome<'upstream.select'>;
  upstream: string | null;
  provider: string | null;
  credentialRef: string | null;
  lease: string | null;
  leaseUntil: Date | null;
  /** Of `none`: when to ask again, at most 300 s; and when the pool is expected back: an estimate. */
  retryAfterMs: number | null;
  expectedRecoveryAt: Date | null;
  /** What that estimate rests on. */
  estimate: Estimate | null;
}

/** More than any honest crowd needs before it is told to come back. */
const MAX_ROUNDS = 20;
/** So many rounds longer a sticky key waits for its own, before it takes another for once. */
const STICKY_ROUNDS = 30;

const NONE = {
  outcome: 'none',
  upstream: null,
  provider: null,
  credentialRef: null,
  lease: null,
  leaseUntil: null,
} as const;

type Row = ReturnType<typeof selectInput>;

export class Selecting {
  readonly #runner: Runner;
  readonly #estimates: Estimates;
  readonly #turns = new Turns();

  constructor(runner: Runner, estimates: Estimates) {
    this.#runner = runner;
    this.#estimates = estimates;
  }

  select(row: Row): Promise<Selected> {
    return this.#turns.take(row.pool, () => this.#select(row));
  }

  async #select({ lease_id, sticky, ...row }: Row): Promise<Selected> {
    const id = lease_id ?? randomUUID();
    const rounds = MAX_ROUNDS + (sticky === null ? 0 : STICKY_ROUNDS);
    for (let round = 0; ; round++) {
      // Where the key's own is in others' hands all the time, any is better than none; the key stays where it was.
      const key = round < STICKY_ROUNDS ? sticky : null;
      const input = [{ ...row, sticky: key, lease_id: id }];
      let [answer] = await this.#runner.read(selectUpstream, input);
      if (answer!.outcome === 'none') [answer] = await this.#runner.read(selectFurther, input);
      if (answer!.outcome === 'conflict')
        throw new Refusal('conflict', `Lease ${id} is out in another pool.`, { lease: id });
      if (answer!.outcome === 'selected') return this.#selected(id, answer!);
      if (answer!.outcome === 'again' && round < rounds) {
        await sleep(Math.random() * round);
        continue;
      }
      // Passed over is not out: who was being selected or reported in that moment is looked at again.
      const { pool, model, capability } = row;
      const looked = await readNearest(this.#runner, [{ pool, model, capability }]);
      const spreadOf = await this.#estimates.spreads();
      const all = looked.map((one) => explained(one, spreadOf));
      if (round < rounds && all.some((one) => one.usable)) continue;
      this.#runner.observe('upstream.select', 'none');
      return { ...NONE, ...whenBack(all, Date.parse(looked[0]?.now ?? '')) };
    }
  }

  #selected(lease: string, { upstream, provider, credential_ref, lease_until }: SelectRow): Selected {
    this.#runner.observe('upstream.select', 'selected');
    const given = { upstream, provider, credentialRef: credential_ref };
    return {
      outcome: 'selected',
      ...given,
      lease,
      leaseUntil: instant(lease_until),
      retryAfterMs: null,
      expectedRecoveryAt: null,
      estimate: null,
    };
  }
}
