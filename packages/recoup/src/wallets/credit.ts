// What is left of each grant: the one place of the rule. Pure: a fold over the entries that gave credit or ended it.
import type { EntryType } from '../outcomes.ts';

/** An entry that comes from outside the jobs: a grant, an adjust, what is taken from or given back to a grant, an expiry. */
export interface Given {
  seq: number;
  type: EntryType;
  amount: number;
  /** The balance right after it. */
  balance: number;
  /** 0 is used first. */
  priority: number;
  expiresAt: string | null;
  /** The grant that it is about, by its entry: what is given back goes to it. */
  of: number | null;
}

/** Credit that one entry gave. */
export interface Lot<G extends Given = Given> {
  from: G;
  remaining: number;
  /** Past it nothing of it may be spent; infinite for credit that stays. */
  expiresMs: number;
}

/** A part of what was taken, and from where; null: from nothing, a debt. */
interface Taken {
  lot: Lot | null;
  amount: number;
}

/** The order of use: priority, then what expires first, then the oldest. */
const before = (a: Lot, b: Lot) =>
  a.from.priority - b.from.priority ||
  (a.expiresMs === b.expiresMs ? a.from.seq - b.from.seq : a.expiresMs - b.expiresMs);

/**
 * The credit of a wallet in the order of its use, each with what is left. `given` in the order of seq; `balance` is the wallet's.
 *
 * What jobs took and got back between two such entries counts as one sum, known from the balances beside them, so that no entry of a job is
 * read and nothing has to be kept. What is taken uses the lots in their order and leaves a debt where there are none; what comes back undoes
 * what was taken last. So the remainders are those of the work that was paid for in the end, they sum to max(balance, 0), and a debt is paid first.
 */
export function creditOf<G extends Given>(given: readonly G[], balance: number): Lot<G>[] {
  const credit = new Credit<G>();
  let reached = 0;
  for (const entry of given) {
    credit.move(entry.balance - entry.amount - reached);
    credit.apply(entry);
    reached = entry.balance;
  }
  credit.move(balance - reached);
  return credit.lots;
}

class Credit<G extends Given> {
  readonly lots: Lot<G>[] = [];
  readonly #taken: Taken[] = [];

  apply(entry: G): void {
    const own = this.lots.find((lot) => lot.from.seq === entry.of);
    if (entry.type === 'expire') {
      if (own) own.remaining += entry.amount;
    } else if (entry.amount > 0) this.#add(own ?? this.#lotOf(entry), entry.amount);
    else {
      // Of what is taken back nothing comes back with a job: it is no one's work.
      const there = Math.min(own?.remaining ?? 0, -entry.amount);
      if (own) own.remaining -= there;
      this.#use(-entry.amount - there);
    }
  }

  /** What jobs took (negative) or got back. */
  move(net: number): void {
    if (net < 0) this.#use(-net);
    else this.#giveBack(net);
  }

  #lotOf(entry: G): Lot<G> {
    const expiresMs = entry.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(entry.expiresAt);
    const lot = { from: entry, remaining: 0, expiresMs };
    const behind = this.lots.findIndex((other) => before(lot, other) < 0);
    this.lots.splice(behind < 0 ? this.lots.length : behind, 0, lot);
    return lot;
  }

  #add(lot: Lot<G>, amount: number): void {
    lot.remaining += amount;
    // A debt is all that was taken last: while there is one, there is no credit.
    for (let index = this.#taken.findIndex(({ lot: of }) => of === null); index >= 0 && lot.remaining > 0; index++) {
      const debt = this.#taken[index];
      if (!debt) break;
      const paid = Math.min(debt.amount, lot.remaining);
      lot.remaining -= paid;
      if (paid === debt.amount) debt.lot = lot;
      else this.#taken.splice(index, 1, { lot, amount: paid }, { lot: null, amount: debt.amount - paid });
    }
  }

  #use(amount: number): void {
    let left = amount;
    for (const lot of this.lots) {
      if (left === 0) return;
      const part = Math.min(lot.remaining, left);
      this.#take(lot, part);
      left -= part;
    }
    if (left > 0) this.#taken.push({ lot: null, amount: left });
  }

  #take(lot: Lot<G>, amount: number): void {
    if (amount === 0) return;
    lot.remaining -= amount;
    const last = this.#taken.at(-1);
    if (last?.lot === lot) last.amount += amount;
    else this.#taken.push({ lot, amount });
  }

  #giveBack(amount: number): void {
    for (let left = amount; left > 0; ) {
      const last = this.#taken.at(-1);
      // No ledger that adds up gives back more than was taken.
      if (!last) return;
      const part = Math.min(last.amount, left);
      if (last.lot) last.lot.remaining += part;
      last.amount -= part;
      left -= part;
      if (last.amount === 0) this.#taken.pop();
    }
  }
}

/** What is due of a wallet's credit at an instant. */
export interface Due<G extends Given = Given> {
  /** What expires now, lot by lot. */
  expires: { lot: Lot<G>; amount: number }[];
  /** Past its time, and kept while jobs whose refund it may be can still succeed. */
  kept: number;
  /** When the credit has to be looked at again; infinite: not for anything that is known now. */
  nextMs: number;
}

/** How long kept credit may outlive the end of the last job that it was kept for. */
const LOOK_AGAIN_MS = 900_000;

/**
 * What expires at `nowMs`. As much of it as refunded jobs that may still succeed would take (`atRisk`) is kept: a reclaim must find the credit that
 * the refund gave back. What expires last is kept first.
 */
export function dueOf<G extends Given>(lots: readonly Lot<G>[], atRisk: number, nowMs: number): Due<G> {
  const past = lots.filter(({ remaining, expiresMs }) => remaining > 0 && expiresMs <= nowMs);
  past.sort((a, b) => a.expiresMs - b.expiresMs || a.from.seq - b.from.seq);
  const all = past.reduce((sum, { remaining }) => sum + remaining, 0);
  const kept = Math.min(all, atRisk);
  const expires: Due<G>['expires'] = [];
  let left = all - kept;
  for (const lot of past) {
    const amount = Math.min(lot.remaining, left);
    if (amount > 0) expires.push({ lot, amount });
    left -= amount;
  }
  const times = lots
    .filter(({ remaining, expiresMs }) => remaining > 0 && expiresMs > nowMs)
    .map((lot) => lot.expiresMs);
  return { expires, kept, nextMs: Math.min(...times, kept > 0 ? nowMs + LOOK_AGAIN_MS : Number.POSITIVE_INFINITY) };
}
