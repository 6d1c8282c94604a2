// What of a payment's credit has to be taken back: a pure function of what is known of it.

export interface Worth {
  /** All that was paid, null: not said yet. */
  amount: number | null;
  refunded: number;
  disputes: Readonly<Record<string, readonly [amount: number, state: 'open' | 'won' | 'lost']>>;
  granted: number;
  /** Of the grant: what expired cannot be taken back any more. */
  expired: number;
}

/**
 * As much of the grant as of the amount was given back or is disputed: a dispute counts from its beginning, and no more once it is won. At most what was
 * granted and has not expired; parts of a credit stay with the customer.
 */
export function toBeTaken({ amount, refunded, disputes, granted, expired }: Worth): number {
  if (amount === null) return 0;
  const disputed = Object.values(disputes).reduce((sum, [part, state]) => sum + (state === 'won' ? 0 : part), 0);
  const gone = BigInt(Math.min(refunded + disputed, amount));
  const part = Number((BigInt(granted) * gone) / BigInt(amount));
  return Math.max(Math.min(part, granted - expired), 0);
}
