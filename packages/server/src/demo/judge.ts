// Judges a design's books by what the upstream really did: the same code for both designs.
import type { Books } from './design.ts';
import type { DemoJob } from './trace.ts';

/** How often the work of each job was really done, by job: what was done is to be paid, once. */
export type Truth = ReadonlyMap<string, number>;

export interface Judgement {
  /** Over all wallets, the sum of |balance − what it would be if each job that was done were paid once|. */
  creditsWrong: number;
  /** Jobs that never ended. */
  lost: number;
  /** Jobs that were done and took less than their price. */
  free: number;
  /** Jobs that took more than their price. */
  paidTwice: number;
  /** Jobs that ended, were never done, and took credits all the same. */
  paidForNothing: number;
}

export function judge(
  jobs: readonly DemoJob[],
  grants: ReadonlyMap<string, number>,
  books: Books,
  truth: Truth,
): Judgement {
  const due = new Map(grants);
  const judgement: Judgement = { creditsWrong: 0, lost: 0, free: 0, paidTwice: 0, paidForNothing: 0 };
  for (const { id, wallet, price } of jobs) {
    const done = (truth.get(id) ?? 0) > 0;
    if (done) due.set(wallet, due.get(wallet)! - price);
    const taken = books.taken.get(id) ?? 0;
    if (!books.ended.has(id)) judgement.lost += 1;
    else if (!done && taken > 0) judgement.paidForNothing += 1;
    if (done && taken < price) judgement.free += 1;
    if (taken > price) judgement.paidTwice += 1;
  }
  for (const [wallet, balance] of due) {
    judgement.creditsWrong += Math.abs((books.balances.get(wallet) ?? 0) - balance);
  }
  return judgement;
}

export function isRight(judgement: Judgement): boolean {
  return Object.values(judgement).every((wrong) => wrong === 0);
}
