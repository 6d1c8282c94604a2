// The feed as callers use it: events behind a cursor, and the ledger for other books.
import type { Runner } from '../db/runner.ts';
import * as check from '../input.ts';
import { type FeedEvent, readEvents } from './events.ts';
import { type LedgerCursor, type LedgerEntry, type LedgerFilter, readEntries } from './ledger.ts';

export class Feed {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /**
   * The events behind a cursor (null: from the beginning), at most `limit` (1 to 5,000; 500 unless set). Keep `cursor` and pass
   * it next time; an empty list means that nothing new is final yet. Refuses `epoch_changed` after a restore or a failover
   * (`details.cursor` goes on, without a gap) and `epoch_needed`.
   */
  async read(cursor: string | null, limit = 500): Promise<{ events: FeedEvent[]; cursor: string | null }> {
    const each = await this.readEach(cursor, limit);
    return { events: each.map(({ event }) => event), cursor: each.at(-1)?.cursor ?? cursor };
  }

  /** As `read`, each event with the cursor right behind it: for readers that must be able to stop at any event. */
  async readEach(cursor: string | null, limit = 500): Promise<{ event: FeedEvent; cursor: string }[]> {
    return readEvents(this.#runner, cursor, check.integer('limit', limit, 1, 5000));
  }

  /**
   * The ledger for other books: entries behind a cursor, at most `limit` (1 to 5,000; 1,000 unless set), each with customer
   * and unit. `ended`: nothing more is there now; the cursor stays good for what comes. Without `wallet` and `customer` in the
   * order of the feed, complete like it; with one of them wallet by wallet, in the order of their numbers. Refuses
   * `epoch_changed` and `epoch_needed` as `read` does; wallet by wallet it then starts from the beginning.
   */
  async entries(
    filter: LedgerFilter = {},
    options: LedgerCursor = {},
  ): Promise<{ entries: LedgerEntry[]; cursor: string | null; ended: boolean }> {
    return readEntries(this.#runner, filter, options);
  }
}
