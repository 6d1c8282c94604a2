// The wallets of a handle: open, change, grant, adjust, balances, entries.
import type { Runner } from '../db/runner.ts';
import { InvalidInput, Refusal } from '../errors.ts';
import * as check from '../input.ts';
import type { Outcome } from '../outcomes.ts';
import { type Expiring, expiringOf, type Remainder, remaindersOf } from './credit-answers.ts';
import { adjustEntry, grantEntry } from './grant.ts';
import {
  type Adjust,
  type Grant,
  type KeyedEntry,
  keyedAnswer,
  keyedInput,
  type Opened,
  type OpenInput,
  openAnswer,
  openInput,
  refusalOf,
} from './inputs.ts';
import { listWallets, type WalletRow } from './list.ts';
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
import { listCredit, readCredit } from './remainders.ts';

export type { Remainder } from './credit-answers.ts';
export type { Adjust, Grant, KeyedEntry, Opened, OpenInput } from './inputs.ts';
export { refusalOf } from './inputs.ts';
export type { WalletRow } from './list.ts';

/** A row of the ledger with its instant as a Date. */
export interface Entry extends Omit<EntryRow, 'createdAt'> {
  createdAt: Date;
}

/** What a wallet holds. */
export interface Balance extends Omit<BalanceRow, 'lastEntryAt' | 'nextExpiryAt'> {
  /**
   * What is left of credit that expires, and when: the next first. With an instant that is past: kept while jobs whose refund it may be can still
   * succeed. What is due to expire is in `booked` until it is booked, and neither here nor in `spendable`.
   */
  expiring: { amount: number; at: Date }[];
  lastEntryAt: Date | null;
}

/** What a wallet held at a past instant. */
export interface BalanceAt extends Omit<BalanceAtRow, 'at'> {
  at: Date;
  /** Only with `parts`. */
  atRisk?: number;
}

const CHANGE_FIELDS = ['overdraftLimit', 'status'];
const STATUSES = ['active', 'closed'] as const;
const PAGE = 1000;

const orThrow = <T>(answer: T | Refusal): T => {
  if (answer instanceof Refusal) throw answer;
  return answer;
};

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
  async open(input: OpenInput): Promise<Opened> {
    const row = openInput(input);
    return orThrow(openAnswer(await this.#runner.call(openWallet, row), row));
  }

  /** Opens in one batch: an answer or a Refusal per item, in order. */
  async openMany(inputs: readonly OpenInput[]): Promise<(Opened | Refusal)[]> {
    const rows = check.items('openMany', inputs, openInput);
    const answers = await this.#runner.many(openWallet, rows);
    return answers.map((a, i) => (a instanceof Refusal ? a : openAnswer(a, rows[i]!)));
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

  /** Adjusts in one batch: an answer or a Refusal per item, in order. */
  async adjustMany(inputs: readonly Adjust[]): Promise<(KeyedEntry<Outcome<'wallet.adjust'>> | Refusal)[]> {
    const rows = check.items('adjustMany', inputs, (input) => keyedInput('adjust', input));
    const answers = await this.#runner.many(adjustEntry, rows);
    return answers.map((a, i) => (a instanceof Refusal ? a : keyedAnswer(a, rows[i]!)));
  }

  /** What the wallet holds now: booked, spendable, held by running jobs, at risk. Refuses `no_wallet`. */
  async balance(wallet: string): Promise<Balance> {
    return orThrow((await this.balances([check.id('wallet', wallet)]))[0]!);
  }

  /** What many wallets hold at one moment: a balance or a Refusal (`no_wallet`) per wallet, in order. */
  async balances(wallets: readonly string[]): Promise<(Balance | Refusal)[]> {
    const ids = check.list('balances', wallets).map((wallet, index) => check.id(`balances[${index}]`, wallet));
    const rows = await this.#runner.read(
      getBalance,
      [...new Set(ids)].map((wallet_id) => ({ wallet_id })),
    );
    const found = new Map(rows.map((row) => [row.wallet, row]));
    const expiring = await this.#expiring(rows);
    return ids.map((wallet) => {
      const row = found.get(wallet);
      if (!row) return new Refusal('no_wallet', undefined, { wallet });
      const { nextExpiryAt: _, ...balance } = row;
      const { amounts, due } = expiring.get(wallet) ?? { amounts: [], due: 0 };
      return {
        ...balance,
        spendable: Math.max(row.spendable - due, 0),
        expiring: amounts,
        lastEntryAt: row.lastEntryAt === null ? null : new Date(row.lastEntryAt),
      };
    });
  }

  /** Of the wallets with credit that expires: what expires when, and what is due and not booked yet. */
  async #expiring(rows: readonly BalanceRow[]): Promise<Map<string, Expiring>> {
    const some = rows.filter(({ nextExpiryAt }) => nextExpiryAt !== null).map(({ wallet }) => ({ wallet_id: wallet }));
    if (some.length === 0) return new Map();
    const credit = await this.#runner.read(readCredit, some);
    return new Map(credit.map((row) => [row.wallet, expiringOf(row)]));
  }

  /**
   * The wallets of a customer, or of everybody, in the order of their ids. One page of at most `limit` wallets (1 to 1,000;
   * 100 unless set); `cursor` is the wallet to go on behind, null where that was all.
   */
  async list(
    options: { customer?: string; cursor?: string | null; limit?: number } = {},
  ): Promise<{ wallets: WalletRow[]; cursor: string | null }> {
    check.onlyFields('list', options, ['customer', 'cursor', 'limit']);
    const count = check.optionalInteger('limit', options.limit, 1, PAGE) ?? 100;
    const input = {
      customer_id: check.optionalId('customer', options.customer),
      after_wallet: check.optionalId('cursor', options.cursor),
      count,
    };
    const wallets = await this.#runner.read(listWallets, [input]);
    return { wallets, cursor: wallets.length === count ? wallets.at(-1)!.wallet : null };
  }

  /**
   * Unused credit by grant, wallet by wallet in the order of their ids, in each in the order of its use: by priority, then what expires first,
   * then the oldest. The remainders of a wallet sum to max(booked, 0). One page of at most `limit` wallets (1 to 1,000; 100
   * unless set); `cursor` is the wallet to go on behind, null where that was all.
   */
  async remainders(
    options: { wallet?: string; customer?: string; cursor?: string | null; limit?: number } = {},
  ): Promise<{ remainders: Remainder[]; cursor: string | null }> {
    check.onlyFields('remainders', options, ['wallet', 'customer', 'cursor', 'limit']);
    const input = {
      wallet_id: check.optionalId('wallet', options.wallet),
      customer_id: check.optionalId('customer', options.customer),
      after_wallet: check.optionalId('cursor', options.cursor),
      count: check.optionalInteger('limit', options.limit, 1, PAGE) ?? 100,
    };
    const [page] = await this.#runner.read(listCredit, [input]);
    return { remainders: page!.credit.flatMap(remaindersOf), cursor: page!.cursor };
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
