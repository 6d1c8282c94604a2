// The payments of a handle: what a provider says of them, and the credit that follows from it.
import type { CreditOutcome } from '../credit-outcomes.ts';
import type { Runner } from '../db/runner.ts';
import type { InputOf } from '../db/statement.ts';
import { InvalidInput, Refusal } from '../errors.ts';
import * as check from '../input.ts';
import { type Atomically, Subscriptions } from '../subscriptions/subscriptions.ts';
import { grantEntry } from '../wallets/grant.ts';
import { refusalOf } from '../wallets/inputs.ts';
import { holdPayments, namePayment } from './hold.ts';
import { listPayments, type PaymentState } from './queries.ts';
import { markGranted, settlePayment } from './settle.ts';
import { type PaymentRow, tellPayment } from './tell.ts';
import { toBeTaken } from './worth.ts';

/** What is said of a payment. What was said before stays; what is not known yet is left out. */
export interface TellPayment {
  /** The payment's id at its provider, with the provider's name: the same in all that is said of it. */
  payment: string;
  /** What it buys: credits of a wallet (with terms like those of a grant), */
  purchase?: { wallet: string; credits: number; expiresAt?: Date; priority?: number };
  /** or a period of a subscription. */
  subscription?: string;
  /** Another id of the same payment (the charge of an invoice): what is told under either is of one. */
  also?: string;
  /** All of it, in the currency's smallest unit. */
  amount?: number;
  /** True once the money has come. */
  paid?: boolean;
  /** How much was given back so far, all refunds together. */
  refunded?: number;
  /** A dispute (a chargeback) of a part of it. */
  dispute?: { id: string; amount: number; state: 'open' | 'won' | 'lost' };
}

export interface ToldPayment {
  /** `granted` now, `adjusted` (taken back or given back), `told`: it changes no credit. */
  outcome: CreditOutcome<'payment.tell'>;
  granted: number;
  /** How much of it is taken back at present. */
  taken: number;
}

/** A payment as it is known. */
export interface Payment extends Omit<PaymentState, 'firstAt' | 'toldAt' | 'asked'> {
  firstAt: Date;
  toldAt: Date;
}

const FIELDS = ['payment', 'also', 'purchase', 'subscription', 'amount', 'paid', 'refunded', 'dispute'];

export class Payments {
  readonly #runner: Runner;
  readonly #atomically: Atomically;

  constructor(runner: Runner, atomically: Atomically) {
    this.#runner = runner;
    this.#atomically = atomically;
  }

  /**
   * Says something of a payment, in any order and any number of times. Once it is paid and known what for, its credit is granted: once, whatever events
   * tell of it. What is refunded or disputed is taken back in proportion, into debt if need be, and given back when a dispute is won; at most what was
   * granted and has not expired. The record and the entries are one transaction. Refuses `conflict` (it was for something else, or of another amount),
   * `no_wallet`, `no_subscription`, `already_subscribed`, `subscription_ended`, `balance_limit`, `wallet_busy`.
   */
  async tell(input: TellPayment): Promise<ToldPayment> {
    const { also_id, ...row } = tellInput(input);
    const told = await this.#atomically(async (runner) => {
      const known = await add(runner, row, also_id);
      const { credits, refusal } = await granting(runner, known);
      // Kept: that it was paid, and why it granted nothing.
      if (refusal) return { refusal };
      const granted = known.granted > 0 ? known.granted : (credits?.granted ?? 0);
      const target = toBeTaken({ ...known, granted });
      const change = granted === 0 ? 0 : known.taken - target;
      if (change !== 0)
        await this.#settle(
          runner,
          known,
          credits?.wallet ?? known.granted_in!,
          credits?.seq ?? known.granted_seq!,
          change,
        );
      const outcome = credits ? 'granted' : change !== 0 ? 'adjusted' : 'told';
      return { outcome, granted, taken: granted === 0 ? 0 : target } as const;
    });
    if ('refusal' in told && told.refusal) throw told.refusal;
    return told as ToldPayment;
  }

  async #settle(runner: Runner, { payment, bookings }: PaymentRow, wallet: string, seq: number, amount: number) {
    const key = `payment/${payment}/${bookings + 1}`;
    const answer = await runner.call(settlePayment, {
      payment_id: payment,
      wallet_id: wallet,
      key,
      amount,
      of_seq: seq,
    });
    const refusal = refusalOf(answer, { payment, wallet });
    if (refusal) throw refusal;
    if (answer.outcome !== 'booked') throw new Refusal('conflict', 'The key of the entry is taken.', { wallet, key });
  }

  /** Payments, newest first; `open`: only those that are paid and granted nothing. `before`: only older ones. */
  async list(options: { open?: boolean; before?: Date; limit?: number } = {}): Promise<Payment[]> {
    check.onlyFields('payments', options, ['open', 'before', 'limit']);
    const rows = await this.#runner.read(listPayments, [
      {
        open: check.flag('open', options.open, false),
        before: check.instant('before', options.before),
        count: check.optionalInteger('limit', options.limit, 1, 1000) ?? 100,
      },
    ]);
    return rows.map(decode);
  }

  /** Those of these (1 to 1,000 ids) that are not known as paid and granted: what a provider's export has and the ledger has not. */
  async missing(payments: readonly string[]): Promise<string[]> {
    const ids = check.list('payments', payments).map((id, index) => check.id(`payments[${index}]`, id));
    const known = await this.#runner.read(listPayments, [{ ids: [...new Set(ids)], count: ids.length }]);
    const granted = new Set(known.filter((row) => row.granted > 0).map((row) => row.asked));
    return ids.filter((id) => !granted.has(id));
  }
}

type Row = Omit<ReturnType<typeof tellInput>, 'also_id'>;

/** Adds the news to what is known of the payment, with what was told under its other id. */
async function add(runner: Runner, row: Row, also_id: string | null): Promise<PaymentRow> {
  const ids = also_id === null ? [row.payment_id] : [row.payment_id, also_id];
  await runner.read(holdPayments, [{ ids }]);
  const [named] = await runner.read(namePayment, [{ payment_id: row.payment_id, also_id: also_id ?? row.payment_id }]);
  const { payment, other } = named!;
  const say = async (news: InputOf<typeof tellPayment.columns>) => {
    const known = await runner.call(tellPayment, { ...news, payment_id: payment });
    if (known.outcome === 'conflict')
      throw new Refusal('conflict', 'The payment was for something else, or of another amount.', { payment });
    return known;
  };
  if (other) {
    const { wallet: wallet_id, subscription: subscription_id, credits, amount, paid, refunded } = other;
    await say({ wallet_id, subscription_id, credits, amount, paid, refunded });
    for (const [dispute, [dispute_amount, dispute_state]] of Object.entries(other.disputes))
      await say({ dispute, dispute_amount, dispute_state });
  }
  return say(row);
}

interface Granted {
  wallet: string;
  seq: number;
  granted: number;
}

/** Grants what the payment is for, where it is paid and nothing was granted yet. */
async function granting(runner: Runner, known: PaymentRow): Promise<{ credits?: Granted; refusal?: Refusal }> {
  const { payment, wallet, subscription } = known;
  if (!known.paid || known.granted > 0 || (wallet === null && subscription === null)) return {};
  if (subscription !== null) return ofPeriod(runner, payment, subscription);
  const answer = await runner.call(grantEntry, {
    ...{ wallet_id: wallet!, key: `payment/${payment}`, amount: known.credits!, reason: 'payment' },
    ...{ priority: known.priority, expires_at: known.expires_at },
  });
  const refusal = refusalOf(answer, { payment, wallet });
  if (refusal) return { refusal };
  await runner.call(markGranted, { payment_id: payment, wallet_id: wallet!, seq: answer.seq, amount: known.credits! });
  return { credits: { wallet: wallet!, seq: answer.seq, granted: known.credits! } };
}

async function ofPeriod(runner: Runner, payment: string, subscription: string) {
  const subscriptions = new Subscriptions(runner, (fn) => fn(runner));
  try {
    const { period } = await subscriptions.pay({ subscription, key: payment });
    const { wallet } = await subscriptions.get(subscription);
    const key = `subscription/${subscription}/${period}`;
    const [mark] = await runner.many(markGranted, [{ payment_id: payment, wallet_id: wallet, key }]);
    if (mark instanceof Refusal) return { refusal: mark };
    const { seq, credits } = mark!;
    return { credits: { wallet, seq, granted: credits } };
  } catch (error) {
    // Kept as stray: a person gives the money back.
    if (error instanceof Refusal && /^(no_subscription|already_subscribed|subscription_ended)$/.test(error.code))
      return { refusal: error };
    throw error;
  }
}

function tellInput(input: TellPayment) {
  check.onlyFields('payment', input, FIELDS);
  const { purchase, dispute } = input;
  if (purchase !== undefined && input.subscription !== undefined)
    throw new InvalidInput('subscription', 'give purchase or subscription, not both');
  if (purchase !== undefined) check.onlyFields('purchase', purchase, ['wallet', 'credits', 'expiresAt', 'priority']);
  if (dispute !== undefined) check.onlyFields('dispute', dispute, ['id', 'amount', 'state']);
  return {
    payment_id: paymentId('payment', input.payment),
    also_id: (input.also ?? null) === null ? null : paymentId('also', input.also),
    wallet_id: purchase ? check.id('purchase.wallet', purchase.wallet) : null,
    credits: purchase ? check.amount('purchase.credits', purchase.credits, 1) : null,
    expires_at: purchase ? check.instant('purchase.expiresAt', purchase.expiresAt) : null,
    priority: purchase ? check.optionalInteger('purchase.priority', purchase.priority, 0, 9) : null,
    subscription_id: check.optionalId('subscription', input.subscription),
    amount: check.optionalInteger('amount', input.amount, 1, check.MAX_AMOUNT),
    paid: check.flag('paid', input.paid, false),
    refunded: check.optionalInteger('refunded', input.refunded, 0, check.MAX_AMOUNT),
    dispute: dispute ? check.id('dispute.id', dispute.id) : null,
    dispute_amount: dispute ? check.amount('dispute.amount', dispute.amount) : null,
    dispute_state: dispute ? check.oneOf('dispute.state', dispute.state, ['open', 'won', 'lost'] as const) : null,
  };
}

/** Keys of entries hold the id and a little more. */
function paymentId(field: string, value: unknown): string {
  const id = check.id(field, value);
  if ([...id].length > 150) throw new InvalidInput(field, `must have at most 150 characters; got ${[...id].length}`);
  return id;
}

const decode = ({ firstAt, toldAt, asked: _, ...row }: PaymentState): Payment => ({
  ...row,
  firstAt: new Date(firstAt),
  toldAt: new Date(toldAt),
});
