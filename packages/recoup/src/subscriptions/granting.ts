// The credit of a period: a grant in the transaction that began the period, under a key that only this period has.
import type { Runner } from '../db/runner.ts';
import { Refusal } from '../errors.ts';
import { grantEntry } from '../wallets/grant.ts';
import { refusalOf } from '../wallets/inputs.ts';

/** What a transition leaves to be granted. */
export interface PeriodGrant {
  subscription: string;
  wallet: string;
  /** Of the period, or of the event that changed the plan in it. */
  of: string;
  credits: number;
  priority: number;
  expiresAt: string | null;
}

/** Grants all of them, or throws, so that the periods do not begin either. */
export async function grantPeriods(runner: Runner, grants: readonly PeriodGrant[]): Promise<void> {
  if (grants.length === 0) return;
  const answers = await runner.many(
    grantEntry,
    grants.map(({ subscription, wallet, of, credits, priority, expiresAt }) => ({
      wallet_id: wallet,
      key: `subscription/${subscription}/${of}`,
      amount: credits,
      reason: 'subscription',
      priority,
      expires_at: expiresAt,
    })),
  );
  answers.forEach((answer, index) => {
    const { wallet, subscription } = grants[index]!;
    const refusal = answer instanceof Refusal ? answer : refusalOf(answer, { wallet, subscription });
    if (refusal) throw refusal;
  });
}
