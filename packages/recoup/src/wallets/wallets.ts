// The wallets of a handle: open, change, grant, adjust, balances, entries.
import type { RawAnswer, Runner } from '../db/runner.ts';
import { type ErrorCode, errors, InvalidInput, Refusal } from '../errors.ts';
import * as check from '../input.ts';
import type { Outcome } from '../outcomes.ts';
import { adjustEntry, grantEntry, type KeyedAnswer } from './grant.ts';
import { changeWallet, openWallet } from './open.ts';
import {
  type BalanceAtRow,
  type BalanceRow,
  balanceAt,
  type EntryRow,
  entriesOfJob,
  getBalance,
  listEntries,
  riskAt,
} from './queries.ts';

/** A row of the ledger with its instant as a Date. */
export interface Entry extends Omit<EntryRow, 'createdAt'> {
  createdAt: Date;
}

/** What a wallet holds. */
export interface Balance extends Omit<BalanceRow, 'lastEntryAt'> {
  /** Credits that will expire; empty while no grant expires. */
  expiring: { amount: number; at: Date }[];
  lastEntryAt: Date | null;
}

/** What a wallet held at a past instant. */
export interface BalanceAt extends Omit<BalanceAtRow, 'at'> {
  at: Date;
  /** Only with `parts`. */
  atRisk?: number;
}

export interface Grant {
  wallet: string;
  /** The caller's key of this grant (a payment, an invoice): once per wallet, for ever. */
  key: string;
  /** 1 to 2^53 − 1. */
  amount: number;
  /** A short code that stays in the ledger. */
  reason?: string;
  /** Who did it: an id. */
  actor?: string;
  /** Free text that can be erased. */
  note?: string;
}

export interface Adjust extends Omit<Grant, 'amount'> {
  /** ±1 to ±(2^53 − 1). */
  amount: number;
  /** The job it is about. */
  job?: string;
}

/** The entry that a keyed call booked; the same for every repeat of the call. */
export interface KeyedEntry<O extends string> {
  outcome: O;
  seq: number;
  amount: number;
  /** The balance right after this entry. */
  balance: number;
  createdAt: Date;
}

export interface OpenInput {
  wallet: string;
  customer: string;
  /** The kind of credit; `credit` unless set. */
  unit?: string;
  /** How far below zero submits may go; 0 unless set. */
  overdraftLimit?: number;
}

const GRANT_FIELDS = ['wallet', 'key', 'amount', 'reason', 'actor', 'note'];
const OPEN_FIELDS = ['wallet', 'customer', 'unit', 'overdraftLimit'];
const CHANGE_FIELDS = ['overdraftLimit', 'status'];
const STATUSES = ['active', 'closed'] as const;
const PAGE = 1000;

/** An answer whose outcome is a code of the errors table, as the refusal it means. */
export function refusalOf(answer: RawAnswer, details: Record<string, unknown>): Refusal | undefined {
  return answer.outcome in errors && answer.outcome !== 'canceled'
    ? new Refusal(answer.outcome as ErrorCode, undefined, details)
    : undefined;
}

const orThrow = <T>(answer: T | Refusal): T => {
  if (answer instanceof Refusal) throw answer;
  return answer;
};

type KeyedRow = ReturnType<typeof keyedInput>;

function keyedInput(what: string, input: Grant | Adjust) {
  check.onlyFields(what, input, what === 'adjust' ? [...GRANT_FIELDS, 'job'] : GRANT_FIELDS);
  const amount =
    what === 'grant'
      ? check.amount('amount', input.amount, 1)
      : check.integer('amount', input.amount, -check.MAX_AMOUNT, check.MAX_AMOUNT);
  if (amount === 0) throw new InvalidInput('amount', 'must not be 0');
  return {
    wallet_id: check.id('wallet', input.wallet),
    key: check.id('key', input.key),
    amount,
    job_id: check.optionalId('job', (input as Adjust).job),
    reason: check.text('reason', input.reason, check.MAX_ID),
    actor: check.optionalId('actor', input.actor),
    note: check.text('note', input.note, 10_000),
  };
}

function keyedAnswer<O extends string>(answer: KeyedAnswer, row: KeyedRow): KeyedEntry<O> | Refusal {
  const was = { type: answer.type, seq: answer.seq, amount: answer.amount, job: answer.job };
  const details = { wallet: row.wallet_id, key: row.key, ...(answer.outcome === 'conflict' ? { booked: was } : {}) };
  const refusal = refusalOf(answer, details);
  if (refusal) return refusal;
  const { seq, amount, balance } = answer;
  return { outcome: answer.outcome as O, seq, amount, balance, createdAt: new Date(answer.at) };
}

/** The functions of one runner: of the handle, or of a transaction. */
export class Wallets {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /**
   * Opens a wallet. `opened`; `duplicate`: it is there, just so. Refuses `conflict`: it is there with another customer,
   * unit or overdraft limit.
   */
  async open(input: OpenInput): Promise<{ outcome: Outcome<'wallet.open'> }> {
    check.onlyFields('open', input, OPEN_FIELDS);
    const row = {
      wallet_id: check.id('wallet', input.wallet),
      customer_id: check.id('customer', input.customer),
      unit: check.optionalId('unit', input.unit) ?? 'credit',
      overdraft_limit: check.amount('overdraftLimit', input.overdraftLimit ?? 0),
    };
    const answer = await this.#runner.call(openWallet, row);
    if (answer.outcome === 'conflict') {
      const there = { customer: answer.customer_id, unit: answer.unit, overdraftLimit: answer.overdraft_limit };
      throw new Refusal('conflict', 'The wallet is there with other settings.', { wallet: row.wallet_id, there });
    }
    return { outcome: answer.outcome as Outcome<'wallet.open'> };
  }

  /** Changes a wallet's overdraft limit or status (`closed`: no new jobs; what runs goes on). Refuses `no_wallet`. */
  async change(
    wallet: string,
    change: { overdraftLimit?: number; status?: 'active' | 'closed' },
  ): Promise<{ outcome: Outcome<'wallet.change'> }> {
    check.onlyFields('change', change, CHANGE_FIELDS);
    const answer = await this.#runner.call(changeWallet, {
      wallet_id: check.id('wallet', wallet),
      overdraft_limit: check.optionalInteger('overdraftLimit', change.overdraftLimit, 0, check.MAX_AMOUNT),
      status: (change.status ?? null) === null ? null : check.oneOf('status', change.status, STATUSES),
    });
    const refusal = refusalOf(answer, { wallet });
    if (refusal) throw refusal;
    return { outcome: 'changed' };
  }

  /**
   * Adds credit, once per wallet and key. `granted`; `duplicate` gives back the first entry. Refuses `no_wallet`,
   * `conflict` (the key holds another amount), `balance_limit`.
   */
  async grant(input: Grant): Promise<KeyedEntry<Outcome<'wallet.grant'>>> {
    const row = keyedInput('grant', input);
    return orThrow(keyedAnswer(await this.#runner.call(grantEntry, row), row));
  }

  /** Grants in one batch: an answer or a Refusal per item, in order. */
  async grantMany(inputs: readonly Grant[]): Promise<(KeyedEntry<Outcome<'wallet.grant'>> | Refusal)[]> {
    const rows = check.items('grantMany', inputs, (input) => keyedInput('grant', input));
    const answers = await this.#runner.many(grantEntry, rows);
    return answers.map((a, i) => (a instanceof Refusal ? a : keyedAnswer(a, rows[i]!)));
  }

  /** Corrects a balance by ±amount, with who and why; may name a job and may go into debt. Outcomes and refusals as `grant`. */
  async adjust(input: Adjust): Promise<KeyedEntry<Outcome<'wallet.adjust'>>> {
    const row = keyedInput('adjust', input);
    return orThrow(keyedAnswer(await this.#runner.call(adjustEntry, row), row));
  }

  /** What the wallet holds now: booked, spendable, held by running jobs, at risk. Refuses `no_wallet`. */
  async balance(wallet: string): Promise<Balance> {
    const [row] = await this.#runner.read(getBalance, [{ wallet_id: check.id('wallet', wallet) }]);
    if (!row) throw new Refusal('no_wallet', undefined, { wallet });
    const { lastEntryAt } = row;
    return { ...row, expiring: [], lastEntryAt: lastEntryAt === null ? null : new Date(lastEntryAt) };
  }

  /**
   * The balance at an instant: booked after the last entry at or before it (one look-up, however long the ledger), and
   * spendable. With `parts` also what stood at risk then, for which the wallet's entries up to it are read. Refuses
   * `no_wallet`.
   */
  async balanceAt(wallet: string, at: Date, options: { parts?: boolean } = {}): Promise<BalanceAt> {
    check.onlyFields('balanceAt', options, ['parts']);
    const text = check.instant('at', at);
    if (text === null) throw new InvalidInput('at', 'must be a valid Date');
    const wallet_id = check.id('wallet', wallet);
    // A Date has milliseconds, entries have microseconds: the end of its millisecond, so that an entry's own instant is in.
    const end = text.replace('Z', '999Z');
    const [row] = await this.#runner.read(balanceAt, [{ wallet_id, at: end }]);
    if (!row) throw new Refusal('no_wallet', undefined, { wallet });
    const risk = check.flag('parts', options.parts, false)
      ? await this.#runner.read(riskAt, [{ wallet_id, seq: row.seq, at: end }])
      : [];
    return { ...row, at, ...risk[0] };
  }

  /**
   * "Why is this balance what it is?": every entry in order with its job, reason and running balance, read in pages.
   * `afterSeq` starts behind an entry; `newestFirst` walks back.
   */
  async *replay(wallet: string, options: { afterSeq?: number; newestFirst?: boolean } = {}): AsyncGenerator<Entry> {
    const wallet_id = check.id('wallet', wallet);
    let after = check.optionalInteger('afterSeq', options.afterSeq, 0, check.MAX_AMOUNT) ?? 0;
    let before: number | null = null;
    const newest_first = check.flag('newestFirst', options.newestFirst, false);
    while (true) {
      const input = { wallet_id, after_seq: after, before_seq: before, count: PAGE, newest_first };
      const rows: EntryRow[] = await this.#runner.read(listEntries, [input]);
      for (const row of rows) yield { ...row, createdAt: new Date(row.createdAt) };
      const last = rows.at(-1);
      if (!last || rows.length < PAGE) return;
      if (newest_first) before = last.seq;
      else after = last.seq;
    }
  }

  /**
   * One page of entries (1 to 1,000; 100 unless set), oldest first or `newestFirst`: `cursor` is the seq to go on from, null
   * where that was all. Refuses `no_wallet`.
   */
  async entries(
    wallet: string,
    options: { cursor?: number; limit?: number; newestFirst?: boolean } = {},
  ): Promise<{ entries: Entry[]; cursor: number | null }> {
    check.onlyFields('entries', options, ['cursor', 'limit', 'newestFirst']);
    const count = check.optionalInteger('limit', options.limit, 1, PAGE) ?? 100;
    const cursor = check.optionalInteger('cursor', options.cursor, 0, check.MAX_AMOUNT);
    const newest_first = check.flag('newestFirst', options.newestFirst, false);
    const edge = newest_first ? { after_seq: 0, before_seq: cursor } : { after_seq: cursor, before_seq: null };
    const input = { wallet_id: check.id('wallet', wallet), ...edge, count, newest_first };
    const rows: EntryRow[] = await this.#runner.read(listEntries, [input]);
    if (rows.length === 0) await this.balance(wallet);
    const last = rows.length === count ? rows.at(-1)!.seq : null;
    return { entries: rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt) })), cursor: last };
  }

  /** The entries of one job, and the adjusts that name it. */
  async entriesOf(wallet: string, job: string): Promise<Entry[]> {
    const input = { wallet_id: check.id('wallet', wallet), job_id: check.id('job', job) };
    const rows = await this.#runner.read(entriesOfJob, [input]);
    return rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt) }));
  }
}
