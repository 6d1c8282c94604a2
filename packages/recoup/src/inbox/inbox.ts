// The inbox of a handle: what needs a person, who cares, until when it is put off. Items come and go with what they are about.
import { dateOr } from '../db/instants.ts';
import type { RawAnswer, Runner } from '../db/runner.ts';
import type { Statement } from '../db/statement.ts';
import { InvalidInput, Refusal } from '../errors.ts';
import * as check from '../input.ts';
import type { CapacityOutcome } from '../outcomes.ts';
import { type NotingRow, noteItem, snoozeItem, takeItem } from './note.ts';
import { type ItemRow, listInbox, type NoteRow } from './queries.ts';

export interface InboxNote extends Omit<NoteRow, 'at' | 'until'> {
  at: Date;
  until: Date | null;
}

/** Something that only a person ends. It is gone when that has happened, by whatever way. */
export interface InboxItem extends Omit<ItemRow, 'since' | 'contradictedAt' | 'snoozedUntil' | 'notes'> {
  since: Date;
  /** Since when something speaks against it: a success, a read-out. Worth a look whether it is still so. */
  contradictedAt: Date | null;
  /** Whose it is: who took it last. */
  owner: string | null;
  snoozedUntil: Date | null;
  /** What it costs: of each pool it concerns, how many upstreams are usable in its scope, of how many. */
  pools: { pool: string; usable: number; all: number }[];
  /** Oldest first. */
  notes: InboxNote[];
}

export interface InboxFilter {
  pool?: string;
  /** Whose; null: nobody's. */
  owner?: string | null;
  /** Those that are put off, instead of those that are not. */
  snoozed?: boolean;
  /** At most so many, 1 to 1,000; 100 unless set. */
  limit?: number;
  /** The last item of the page before. */
  after?: string;
}

export interface Take {
  actor: string;
  /** Take it from whoever has it. */
  force?: boolean;
  note?: string;
}

export interface Snooze {
  actor: string;
  /** Until when, or for how long; neither: show it again. */
  until?: Date;
  forMs?: number;
  note?: string;
}

export interface Remark {
  actor: string;
  note: string;
  /** A key of yours: said again with it, it is there once. */
  key?: string;
}

const MAX_NOTE = 2000;

export class Inbox {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** What needs a person now, oldest first: open manual blocks. */
  async list(filter: InboxFilter = {}): Promise<InboxItem[]> {
    check.onlyFields('inbox', filter, ['pool', 'owner', 'snoozed', 'limit', 'after']);
    const rows = await this.#runner.read(listInbox, [
      {
        pool: check.optionalId('pool', filter.pool),
        owner: check.text('owner', filter.owner, 200),
        nobodys: filter.owner === null,
        snoozed: check.flag('snoozed', filter.snoozed, false),
        after: filter.after === undefined ? null : blockOf('after', filter.after),
        count: check.optionalInteger('limit', filter.limit, 1, 1000) ?? 100,
      },
    ]);
    return rows.map(item);
  }

  /** Says who cares about it. `held`: somebody else does (`owner`), and stays; with `force` not. Refuses `no_item`: there is none, or it is over. */
  async take(of: string, input: Take): Promise<{ outcome: CapacityOutcome<'inbox.take'>; owner: string | null }> {
    check.onlyFields('take', input, ['actor', 'force', 'note']);
    const { outcome, owner } = await this.#say(takeItem, of, input, { force: check.flag('force', input.force, false) });
    return { outcome: outcome as 'taken', owner };
  }

  /** Hides it until then, or until something speaks against it; without an instant it is shown again (`woken`). Refuses `no_item`. */
  async snooze(of: string, input: Snooze): Promise<{ outcome: CapacityOutcome<'inbox.snooze'> }> {
    check.onlyFields('snooze', input, ['actor', 'until', 'forMs', 'note']);
    if (input.until !== undefined && input.forMs !== undefined)
      throw new InvalidInput('until', 'give forMs or until, not both');
    const until = check.instant('until', input.until);
    const for_ms = check.duration('forMs', input.forMs, 1);
    const { outcome } = await this.#say(snoozeItem, of, input, { until, for_ms });
    return { outcome: outcome as 'snoozed' };
  }

  /** A remark, for whoever looks next. Refuses `no_item`. */
  async note(of: string, input: Remark): Promise<{ outcome: CapacityOutcome<'inbox.note'>; number: number | null }> {
    check.onlyFields('note', input, ['actor', 'note', 'key']);
    if ((input.note ?? '') === '') throw new InvalidInput('note', `must be a text of 1 to ${MAX_NOTE} characters`);
    const { outcome, number } = await this.#say(noteItem, of, input, { key: check.optionalId('key', input.key) });
    return { outcome: outcome as 'noted', number };
  }

  async #say(
    statement: Statement<typeof noteItem.columns, NotingRow>,
    of: string,
    { actor, note }: { actor: string; note?: string | undefined },
    more: object,
  ): Promise<NotingRow> {
    const block_id = blockOf('item', of);
    const who = check.text('actor', actor, 200);
    if ((who ?? '') === '') throw new InvalidInput('actor', 'must be a text of 1 to 200 characters: who says so');
    const row = { item: of, block_id, actor: who, note: check.text('note', note, MAX_NOTE), ...more };
    const answer: RawAnswer = await this.#runner.call(statement, row);
    if (answer.outcome === 'no_item') throw new Refusal('no_item', undefined, { item: of });
    return answer as NotingRow;
  }
}

/** The block of an item. */
function blockOf(field: string, value: unknown): number {
  const id = typeof value === 'string' ? /^block:([1-9]\d{0,15})$/.exec(value)?.[1] : undefined;
  if (id === undefined || !Number.isSafeInteger(Number(id)))
    throw new InvalidInput(field, 'must be an item of the inbox, such as block:12');
  return Number(id);
}

const item = ({ since, contradictedAt, snoozedUntil, notes, ...row }: ItemRow): InboxItem => ({
  ...row,
  since: new Date(since),
  contradictedAt: dateOr(contradictedAt),
  snoozedUntil: dateOr(snoozedUntil),
  notes: notes.map((note) => ({ ...note, at: new Date(note.at), until: dateOr(note.until) })),
});
