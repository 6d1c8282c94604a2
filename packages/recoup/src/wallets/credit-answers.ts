// What callers are told of credit: what is left of each grant, and what expires when.
import type { EntryType } from '../outcomes.ts';
import { dueOf } from './credit.ts';
import { type CreditRow, creditOfRow } from './remainders.ts';

/** What is left of one grant, or of another entry that gave credit. */
export interface Remainder {
  wallet: string;
  customer: string;
  unit: string;
  /** The entry that gave the credit. */
  seq: number;
  /** `grant`, `restore`, or an `adjust` upwards. */
  type: EntryType;
  key: string | null;
  reason: string | null;
  amount: number;
  /** What is left of the amount: 1 to the amount. */
  remaining: number;
  /** What is used first: 0 to 9, 0 before 1. */
  priority: number;
  /** When it expires; null: it stays. */
  expiresAt: Date | null;
  createdAt: Date;
}

/** Of a wallet: what expires when, and what is due and not booked yet. */
export interface Expiring {
  amounts: { amount: number; at: Date }[];
  due: number;
}

export function expiringOf(row: CreditRow): Expiring {
  const lots = creditOfRow(row);
  const { expires } = dueOf(lots, row.atRisk, Date.parse(row.at));
  const goes = new Map(expires.map(({ lot, amount }) => [lot, amount]));
  const byTime = new Map<number, number>();
  for (const lot of lots) {
    const amount = lot.remaining - (goes.get(lot) ?? 0);
    if (amount > 0 && Number.isFinite(lot.expiresMs))
      byTime.set(lot.expiresMs, (byTime.get(lot.expiresMs) ?? 0) + amount);
  }
  const amounts = [...byTime].sort(([a], [b]) => a - b).map(([ms, amount]) => ({ amount, at: new Date(ms) }));
  return { amounts, due: expires.reduce((sum, { amount }) => sum + amount, 0) };
}

/** What is left of each, in the order of its use. */
export const remaindersOf = (row: CreditRow): Remainder[] =>
  creditOfRow(row)
    .filter(({ remaining }) => remaining > 0)
    .map(({ from, remaining }) => ({
      wallet: row.wallet,
      customer: row.customer,
      unit: row.unit,
      seq: from.seq,
      type: from.type,
      key: from.key,
      reason: from.reason,
      amount: from.amount,
      remaining,
      priority: from.priority,
      expiresAt: from.expiresAt === null ? null : new Date(from.expiresAt),
      createdAt: new Date(from.createdAt),
    }));
