// What wallets are given and answer: inputs checked into rows, answers read into entries or refusals.
import type { RawAnswer } from '../db/runner.ts';
import { type ErrorCode, errors, InvalidInput, Refusal } from '../errors.ts';
import * as check from '../input.ts';
import type { Outcome } from '../outcomes.ts';
import type { KeyedAnswer } from './grant.ts';
import type { OpenAnswer } from './open.ts';

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
  /** When what is left of it expires; it stays unless set. An instant that is past already: at once. */
  expiresAt?: Date;
  /** What is used first: 0 to 9, 0 before 1; 5 unless set. Among equals what expires first, then the oldest. */
  priority?: number;
}

export interface Adjust extends Omit<Grant, 'amount' | 'expiresAt' | 'priority'> {
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

export interface Opened {
  outcome: Outcome<'wallet.open'>;
}

export interface OpenInput {
  wallet: string;
  customer: string;
  /** The kind of credit; `credit` unless set. */
  unit?: string;
  /** How far below zero submits may go; 0 unless set. */
  overdraftLimit?: number;
}

const KEYED_FIELDS = ['wallet', 'key', 'amount', 'reason', 'actor', 'note'];
const FIELDS = { grant: [...KEYED_FIELDS, 'expiresAt', 'priority'], adjust: [...KEYED_FIELDS, 'job'] };
const OPEN_FIELDS = ['wallet', 'customer', 'unit', 'overdraftLimit'];

/** An answer whose outcome is a code of the errors table, as the refusal it means. */
export function refusalOf(answer: RawAnswer, details: Record<string, unknown>): Refusal | undefined {
  return answer.outcome in errors && answer.outcome !== 'canceled'
    ? new Refusal(answer.outcome as ErrorCode, undefined, details)
    : undefined;
}

export type KeyedRow = ReturnType<typeof keyedInput>;

export function keyedInput(what: keyof typeof FIELDS, input: Grant | Adjust) {
  check.onlyFields(what, input, FIELDS[what]);
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
    priority: check.optionalInteger('priority', (input as Grant).priority, 0, 9),
    expires_at: check.instant('expiresAt', (input as Grant).expiresAt),
  };
}

export function keyedAnswer<O extends string>(answer: KeyedAnswer, row: KeyedRow): KeyedEntry<O> | Refusal {
  const { type, seq: there, job, priority, expires_at: expiresAt } = answer;
  const was = { type, seq: there, amount: answer.amount, job, priority, expiresAt };
  const details = { wallet: row.wallet_id, key: row.key, ...(answer.outcome === 'conflict' ? { booked: was } : {}) };
  const refusal = refusalOf(answer, details);
  if (refusal) return refusal;
  const { seq, amount, balance } = answer;
  return { outcome: answer.outcome as O, seq, amount, balance, createdAt: new Date(answer.at) };
}

export type OpenRow = ReturnType<typeof openInput>;

export function openInput(input: OpenInput) {
  check.onlyFields('open', input, OPEN_FIELDS);
  return {
    wallet_id: check.id('wallet', input.wallet),
    customer_id: check.id('customer', input.customer),
    unit: check.optionalId('unit', input.unit) ?? 'credit',
    overdraft_limit: check.amount('overdraftLimit', input.overdraftLimit ?? 0),
  };
}

export function openAnswer(answer: OpenAnswer, row: OpenRow): Opened | Refusal {
  if (answer.outcome === 'conflict') {
    const there = { customer: answer.customer_id, unit: answer.unit, overdraftLimit: answer.overdraft_limit };
    return new Refusal('conflict', 'The wallet is there with other settings.', { wallet: row.wallet_id, there });
  }
  return { outcome: answer.outcome as Opened['outcome'] };
}
