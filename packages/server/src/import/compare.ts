// The comparison: what the other system says a wallet holds beside what Recoup says, while both run.
import { Refusal } from 'recoup';
import type { Ask } from '../cli/tools.ts';
import { BATCH, otherWallet } from './balances.ts';
import type { Row } from './rows.ts';
import { exact, type Spool } from './spool.ts';

export interface Difference {
  line: number;
  wallet: string;
  /** What the other system says. */
  theirs: number;
  /** What Recoup says; null: there is no such wallet. */
  ours: number | null;
  difference: number | null;
  /** Charged for jobs that run: where the other system books at the end, this may be all of the difference. */
  held: number | null;
  why: string;
}

export interface Compared {
  wallets: number;
  equal: number;
  different: number;
  missing: number;
  sumTheirs: number | string;
  sumOurs: number | string;
  differences: Difference[];
}

export type Figure = 'booked' | 'spendable';
type Found = { booked: number; spendable: number; held: number; customer: string; unit: string; code?: undefined };

export async function compareBalances(
  ask: Ask,
  spool: Spool,
  figure: Figure,
  limit: number,
  onProgress: (done: number) => void,
): Promise<Compared> {
  const result = { wallets: 0, equal: 0, different: 0, missing: 0 };
  let ours = 0n;
  const differences: Difference[] = [];
  for await (const batch of spool.batches(BATCH)) {
    const { items } = await ask<{ items: (Found | Refusal | { code: string })[] }>('wallets.balances', {
      wallets: batch.map(({ wallet }) => wallet),
    });
    batch.forEach((row, index) => {
      const item = items[index]!;
      const found = item instanceof Refusal || item.code !== undefined ? null : (item as Found);
      const difference = differenceOf(row, found, figure);
      ours += BigInt(found?.[figure] ?? 0);
      if (difference === null) result.equal += 1;
      else result[found === null ? 'missing' : 'different'] += 1;
      if (difference !== null && differences.length < limit) differences.push(difference);
    });
    result.wallets += batch.length;
    onProgress(result.wallets);
  }
  return { ...result, sumTheirs: exact(spool.sum), sumOurs: exact(ours), differences };
}

function differenceOf(row: Row, found: Found | null, figure: Figure): Difference | null {
  const { line, wallet, balance: theirs } = row;
  if (found === null) {
    return { line, wallet, theirs, ours: null, difference: null, held: null, why: 'there is no such wallet' };
  }
  const ours = found[figure];
  const why = otherWallet(row, found) ?? (ours === theirs ? null : `${figure} differs`);
  return why === null ? null : { line, wallet, theirs, ours, difference: ours - theirs, held: found.held, why };
}
