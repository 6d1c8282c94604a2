// Epochs as callers use them: what a restore or a failover made of the ledger, and the step that makes the feed whole again.
import type { Queryable } from './db/database.ts';
import { type EpochRow, type EpochState, epochState, listEpochs, openEpoch } from './db/epochs.ts';
import { asRefusal } from './db/failures.ts';
import type { Pools } from './db/pool.ts';
import { InvalidInput, Refusal } from './errors.ts';
import * as check from './input.ts';

/** A run of the ledger between two restores or failovers. `reason` is for people. */
export type Epoch = Omit<EpochRow, 'openedAt'> & { openedAt: Date };

export interface OpenEpoch {
  /** Why, for people: which backup, which failover. */
  reason: string;
  actor?: string;
  /** Where work went on before the epoch was opened: what was written since is told again to readers of older cursors. */
  since?: Date;
}

const epochOf = ({ number, openedAt, reason, actor }: EpochRow): Epoch => ({
  number,
  openedAt: new Date(openedAt),
  reason,
  actor,
});

export class Epochs {
  readonly #pools: Pools;

  constructor(pools: Pools) {
    this.#pools = pools;
  }

  /**
   * Opens the next epoch, after a restore or a failover and best before anything is written: positions of the feed start
   * above all that were ever handed out, and readers of older cursors are refused `epoch_changed`. Each call opens one.
   * Needs the role that owns the tables; waits for writers up to `lockTimeoutMs`.
   */
  async open(input: OpenEpoch): Promise<Epoch> {
    check.onlyFields('open', input, ['reason', 'actor', 'since']);
    const reason = check.text('reason', input.reason, 200);
    if (!reason) throw new InvalidInput('reason', 'must say why, in 1 to 200 characters');
    const since = check.instant('since', input.since);
    const row = { reason, actor: check.optionalId('actor', input.actor), since };
    try {
      await this.#pools.transaction('caller', (client) => openEpoch(client, this.#pools.schema, row));
    } catch (error) {
      throw asRefusal(error, true);
    }
    return epochOf(await this.#state());
  }

  /** The newest epoch; `due`: in words, why another one has to be opened, or null. */
  async current(): Promise<Epoch & { due: string | null }> {
    const state = await this.#state();
    return { ...epochOf(state), due: state.due };
  }

  /** All of them, oldest first; epoch 0 began with the schema. */
  async list(): Promise<Epoch[]> {
    return (await this.#read((client) => listEpochs(client, this.#pools.schema))).map(epochOf);
  }

  async #state(): Promise<EpochState> {
    const state = await this.#read((client) => epochState(client, this.#pools.schema));
    if (!state) throw new Refusal('schema_behind');
    return state;
  }

  async #read<T>(work: (client: Queryable) => Promise<T>): Promise<T> {
    try {
      return await this.#pools.transaction('caller', work);
    } catch (error) {
      throw asRefusal(error, false);
    }
  }
}
