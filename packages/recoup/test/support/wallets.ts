// What tests of transactions start from: a wallet of their own with credits, and a job for it.
import type { Recoup } from '../../src/index.ts';

let number = 0;

/** A wallet that no other test uses. */
export async function walletIn(recoup: Recoup, amount = 100): Promise<string> {
  number += 1;
  const wallet = `wallet-${number}`;
  await recoup.wallets.open({ wallet, customer: 'customer' });
  await recoup.wallets.grant({ wallet, key: 'start', amount });
  return wallet;
}

export const jobFor = (wallet: string, id = 'j1') => ({ wallet, job: id, queue: 'q', price: 10 });
