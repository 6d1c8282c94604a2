// The import of balances: wallets opened, what they hold booked once under a key; repeated, it books nothing twice.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorCode, errors, Refusal } from 'recoup';
import type { Ask } from '../cli/tools.ts';
import type { Row } from './rows.ts';
import { exact, type Spool } from './spool.ts';

/** As many as a batch of the operations takes. */
export const BATCH = 1000;
const TRIES = 6;
const SHOWN = 100;

export interface Imported {
  wallets: number;
  sum: number | string;
  opened: number;
  granted: number;
  /** Debts. */
  adjusted: number;
  /** Booked by an earlier run. */
  duplicates: number;
  /** Wallets that hold nothing: opened, nothing to book. */
  empty: number;
  refused: number;
  /** Wallets that held something beforehand: what the source says was added to it. */
  addedTo: number;
  warnings: { line: number; wallet: string; warning: string }[];
  problems: { line: number; wallet: string; code: string; problem: string }[];
}

/** One answer of a batch: an outcome, or why the item was refused. */
interface Item {
  outcome?: string;
  code?: ErrorCode;
  message?: string;
  there?: { customer: string; unit: string };
  booked?: unknown;
  balance?: number;
  amount?: number;
}

export const nothing = (spool: Spool): Imported => ({
  wallets: spool.rows,
  sum: exact(spool.sum),
  opened: 0,
  granted: 0,
  adjusted: 0,
  duplicates: 0,
  empty: 0,
  refused: 0,
  addedTo: 0,
  warnings: [],
  problems: [],
});

/**
 * Books every row once per wallet and `key`. What concerns one wallet alone is told with its line, the others go on.
 * `onProgress` is called between two batches, and may throw to end it there.
 */
export async function importBalances(
  ask: Ask,
  spool: Spool,
  key: string,
  onProgress: (done: number) => void,
): Promise<Imported> {
  await checkAllowed(ask, spool);
  const result = nothing(spool);
  let done = 0;
  for await (const batch of spool.batches(BATCH)) {
    const open = await openAll(ask, batch, result);
    const [credits, debts] = [open.filter((row) => row.balance > 0), open.filter((row) => row.balance < 0)];
    const none = open.filter((row) => row.balance === 0);
    await leaveEmpty(ask, none, key, result);
    await book(ask, 'wallets.grantMany', credits, key, result);
    await book(ask, 'wallets.adjustMany', debts, key, result);
    done += batch.length;
    onProgress(done);
  }
  return result;
}

/**
 * Refuses `forbidden` before anything is changed where the key may not do one of the steps. Asked without items, they do
 * nothing, and who may ask is looked at before what is asked.
 */
export async function checkAllowed(ask: Ask, { credits, debts }: Spool): Promise<void> {
  const steps = [
    'wallets.openMany',
    ...(credits ? ['wallets.grantMany'] : []),
    ...(debts ? ['wallets.adjustMany'] : []),
  ];
  for (const step of steps) {
    try {
      await ask(step, { items: [] });
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'invalid') throw error;
    }
  }
}

/** Why a wallet that is there is not the row's; null where it is. Its overdraft limit is its own business. */
export function otherWallet(row: Row, there: { customer: string; unit: string }): string | null {
  if (there.customer !== row.customer) return `the wallet is there, of customer ${JSON.stringify(there.customer)}`;
  if (row.unit !== null && there.unit !== row.unit)
    return `the wallet is there, in the unit ${JSON.stringify(there.unit)}`;
  return null;
}

/** Opens the wallets; gives the rows whose wallet is there as the row says. */
async function openAll(ask: Ask, rows: readonly Row[], result: Imported): Promise<Row[]> {
  const items = rows.map(({ wallet, customer, unit }) => ({ wallet, customer, ...(unit === null ? {} : { unit }) }));
  const answers = await each(ask, 'wallets.openMany', items);
  return rows.filter((row, index) => {
    const { outcome, code, there, message } = answers[index]!;
    if (outcome === 'opened') result.opened += 1;
    if (code === undefined) return true;
    const other = code === 'conflict' && there ? otherWallet(row, there) : (message ?? code);
    if (other !== null) refuse(result, row, code, other);
    return other === null;
  });
}

async function book(
  ask: Ask,
  operation: 'wallets.grantMany' | 'wallets.adjustMany',
  rows: readonly Row[],
  key: string,
  result: Imported,
): Promise<void> {
  const items = rows.map(({ wallet, balance }) => ({ wallet, key, amount: balance, reason: 'opening' }));
  const answers = await each(ask, operation, items);
  answers.forEach(({ outcome, code, message, booked, balance, amount }, index) => {
    if (outcome === 'granted' || outcome === 'adjusted') warnOf(result, rows[index]!, balance! - amount!);
    if (outcome === 'granted') result.granted += 1;
    else if (outcome === 'adjusted') result.adjusted += 1;
    else if (outcome === 'duplicate') result.duplicates += 1;
    else {
      const was = booked as { amount?: number } | undefined;
      const problem = was?.amount === undefined ? message! : bookedAlready(key, was.amount);
      refuse(result, rows[index]!, code!, problem);
    }
  });
}

/** Nothing is booked for nothing; but where an earlier run booked something under the key, the row differs from it. */
async function leaveEmpty(ask: Ask, rows: readonly Row[], key: string, result: Imported): Promise<void> {
  if (rows.length === 0) return;
  const found = await ask<{ items: (Refusal | { lastSeq?: number })[] }>('wallets.balances', {
    wallets: rows.map(({ wallet }) => wallet),
  });
  for (const [index, row] of rows.entries()) {
    const item = found.items[index]!;
    const booked = item instanceof Refusal || !item.lastSeq ? null : await bookedUnder(ask, row.wallet, key);
    if (booked === null) result.empty += 1;
    else refuse(result, row, 'conflict', bookedAlready(key, booked.amount));
  }
}

export const bookedAlready = (key: string, amount: number) => `${key} was booked already, with ${amount}`;

interface Booked {
  key: string | null;
  type: string;
  amount: number;
}

/** The entry that has the key; an opening is among the first. */
export async function bookedUnder(ask: Ask, wallet: string, key: string): Promise<Booked | null> {
  for (let cursor: number | null = 0; cursor !== null; ) {
    const limit = cursor === 0 ? 10 : 1000;
    const page: { entries: Booked[]; cursor: number | null } = await ask('wallets.entries', { wallet, cursor, limit });
    const found = page.entries.find((entry) => entry.key === key);
    if (found) return found;
    cursor = page.cursor;
  }
  return null;
}

/** Says where something is added to what a wallet held. */
export function warnOf(result: Imported, { line, wallet, balance }: Row, held: number): void {
  if (held === 0) return;
  result.addedTo += 1;
  if (result.warnings.length < SHOWN)
    result.warnings.push({
      line,
      wallet,
      warning: `it held ${held} beforehand: with ${balance} it holds ${held + balance}`,
    });
}

export function refuse(result: Imported, { line, wallet }: Row, code: string, problem: string): void {
  result.refused += 1;
  if (result.problems.length < SHOWN) result.problems.push({ line, wallet, code, problem });
}

/** An answer per item; items whose wallet was busy are asked for again, and so is everything while nobody answers. */
async function each(ask: Ask, operation: string, items: readonly object[]): Promise<Item[]> {
  const answers = new Array<Item>(items.length);
  let open = items.map((_, index) => index);
  for (let attempt = 1; open.length > 0; attempt++) {
    const last = attempt === TRIES;
    const got = await ask<{ items: (Item | Refusal)[] }>(operation, { items: open.map((index) => items[index]) }).catch(
      (error: unknown) => {
        if (!last && error instanceof Refusal && error.retryable) return undefined;
        throw error;
      },
    );
    const pending = open;
    open = [];
    got?.items.forEach((item, index) => {
      const answer = item instanceof Refusal ? (item.toJSON() as Item) : item;
      if (!last && answer.code !== undefined && errors[answer.code].retry) open.push(pending[index]!);
      else answers[pending[index]!] = answer;
    });
    if (got === undefined) open = pending;
    if (open.length > 0) await sleep(100 * 2 ** attempt);
  }
  return answers;
}
