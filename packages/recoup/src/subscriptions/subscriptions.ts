// The subscriptions of a handle: plans, start, pay, change, cancel, what is due; at most one of a customer lives.

import type { CreditOutcome } from '../credit-outcomes.ts';
import { dateOr } from '../db/instants.ts';
import type { Runner } from '../db/runner.ts';
import { InvalidInput, Refusal } from '../errors.ts';
import * as check from '../input.ts';
import { refusalOf } from '../wallets/inputs.ts';
import { knownZone } from '../windows/queries.ts';
import type { AdvanceRow } from './advance.ts';
import { cancelSubscription } from './cancel.ts';
import { changeSubscription } from './change.ts';
import { grantPeriods, type PeriodGrant } from './granting.ts';
import { holdCustomers } from './held.ts';
import * as inputs from './inputs.ts';
import { lapseSubscription } from './lapse.ts';
import { paySubscription } from './pay.ts';
import {
  getSubscription,
  listPlans,
  listSubscriptions,
  type StrayRow,
  type SubscriptionEventRow,
  type SubscriptionRow,
  strayPayments,
  subscriptionEvents,
} from './queries.ts';
import { type Plan, setPlan } from './set-plan.ts';
import { startSubscription } from './start.ts';

export interface Subscription extends Omit<SubscriptionRow, 'periodStart' | 'periodEnd' | 'startedAt' | 'endedAt'> {
  periodStart: Date | null;
  periodEnd: Date | null;
  startedAt: Date;
  endedAt: Date | null;
}

export interface SubscriptionEvent extends Omit<SubscriptionEventRow, 'at'> {
  at: Date;
}

/** What a payment, or the passing of time, came to. */
export interface Advanced<O> {
  outcome: O;
  status: Subscription['status'];
  plan: string;
  period: number | null;
  /** Of a period that began; else null. */
  periodStart: Date | null;
  periodEnd: Date | null;
  /** What it granted; 0: nothing. */
  granted: number;
}

export interface StrayPayment extends Omit<StrayRow, 'at'> {
  at: Date;
}

/** Runs it in one transaction: the caller's, or one of Recoup's own, run again where it lost a race. */
export type Atomically = <T>(fn: (runner: Runner) => Promise<T>) => Promise<T>;

export class Subscriptions {
  readonly #runner: Runner;
  readonly #atomically: Atomically;

  constructor(runner: Runner, atomically: Atomically) {
    this.#runner = runner;
    this.#atomically = atomically;
  }

  /** Sets a plan: a new one (`credits` and `every` are needed), or what changes of one that is there. `set`, `duplicate`. */
  async setPlan(input: inputs.SetPlan): Promise<{ outcome: CreditOutcome<'subscription.setPlan'> }> {
    const row = inputs.planInput(input);
    if (row.zone !== null && !(await this.#runner.read(knownZone, [{ zone: row.zone }]))[0]?.known)
      throw new InvalidInput('zone', `must be a time zone that PostgreSQL knows, too; got ${JSON.stringify(row.zone)}`);
    const { outcome } = await this.#runner.call(setPlan, row);
    if (outcome === 'no_plan') {
      const missing = row.credits === null ? 'credits' : 'every';
      throw new InvalidInput(missing, 'is needed for a new plan');
    }
    return { outcome: outcome as 'set' };
  }

  /** Plans in the order of their ids; `cursor` is the plan to go on behind, null where that was all. */
  async plans(
    options: { cursor?: string | null; limit?: number } = {},
  ): Promise<{ plans: Plan[]; cursor: string | null }> {
    check.onlyFields('plans', options, ['cursor', 'limit']);
    const count = check.optionalInteger('limit', options.limit, 1, 1000) ?? 100;
    const plans = await this.#runner.read(listPlans, [{ after: check.optionalId('cursor', options.cursor), count }]);
    return { plans, cursor: plans.length === count ? plans.at(-1)!.plan : null };
  }

  /**
   * Begins a checkout: before it is paid, so that a second subscription is refused before money moves. `started`; `duplicate`: it is there, just so.
   * Refuses `already_subscribed` (with the one that lives), `no_plan`, `no_wallet` (none of that customer), `conflict`.
   */
  async start(input: inputs.StartSubscription): Promise<{ outcome: CreditOutcome<'subscription.start'> }> {
    const row = inputs.startInput(input);
    const answer = await this.#atomically(async (runner) => {
      await runner.read(holdCustomers, [{ customer_id: row.customer_id }]);
      return runner.call(startSubscription, row);
    });
    const { other, there } = answer;
    const details = {
      subscription: row.subscription_id,
      ...(other !== null && { other }),
      ...(there !== null && { there }),
    };
    const refusal = refusalOf(answer, details);
    if (refusal) throw refusal;
    return { outcome: answer.outcome as 'started' };
  }

  /**
   * A payment arrived: it begins the subscription, or pays for its next period, whose credit is granted in the same transaction, once.
   * `activated`, `renewed`; `duplicate`: this payment has done so before. Refuses `no_subscription`, `already_subscribed` (another of the customer lives)
   * and `subscription_ended` (it was revoked): then the payment is kept, see `strayPayments`, unless the caller's transaction rolls back.
   */
  async pay(input: inputs.PaySubscription): Promise<Advanced<CreditOutcome<'subscription.pay'>>> {
    const row = inputs.payInput(input);
    const answer = await this.#advance(row.subscription_id, (runner) => runner.call(paySubscription, row));
    return advanced(answer, row.subscription_id);
  }

  /** Another plan: `plan_changed` now, or `plan_planned` for the next period; `duplicate`: it is so, or the key was used. */
  async change(
    input: inputs.ChangePlan,
  ): Promise<{ outcome: CreditOutcome<'subscription.change'>; granted: number; periodEnd: Date | null }> {
    const row = inputs.changeInput(input);
    const answer = await this.#atomically(async (runner) => {
      await runner.read(holdCustomers, [{ subscription_id: row.subscription_id }]);
      const change = await runner.call(changeSubscription, row);
      const { credits, event_number, wallet, priority, expires_at } = change;
      if (credits !== null)
        await grantPeriods(runner, [
          {
            subscription: row.subscription_id,
            wallet,
            of: `change-${event_number}`,
            credits,
            priority: priority!,
            expiresAt: expires_at,
          },
        ]);
      return change;
    });
    if (answer.outcome === 'other_length')
      throw new InvalidInput(
        'from',
        'must be period: a plan of another length or zone can only begin with the next period',
      );
    const refusal = refusalOf(answer, { subscription: row.subscription_id, plan: row.to_plan });
    if (refusal) throw refusal;
    return {
      outcome: answer.outcome as 'plan_changed',
      granted: answer.credits ?? 0,
      periodEnd: dateOr(answer.period_end),
    };
  }

  /** Ends it `now` (`revoked`) or with its period (`canceling`), or takes that back (`resumed`). Refuses `no_subscription`, `subscription_ended`. */
  async cancel(
    input: inputs.CancelSubscription,
  ): Promise<{ outcome: CreditOutcome<'subscription.cancel'>; status: Subscription['status'] }> {
    const row = inputs.cancelInput(input);
    const answer = await this.#atomically(async (runner) => {
      await runner.read(holdCustomers, [{ subscription_id: row.subscription_id }]);
      return runner.call(cancelSubscription, row);
    });
    const refusal = refusalOf(answer, { subscription: row.subscription_id });
    if (refusal) throw refusal;
    return { outcome: answer.outcome as 'revoked', status: answer.status as Subscription['status'] };
  }

  /**
   * What the passing of time does to these (a sweep calls it): the next period, past due, or the end. One transaction; those whose customer somebody
   * holds are passed over (null).
   */
  async lapse(subscriptions: readonly string[]): Promise<(Advanced<CreditOutcome<'subscription.lapse'>> | null)[]> {
    return this.#atomically(async (runner) => {
      const held = await runner.read(
        holdCustomers,
        subscriptions.map((subscription_id) => ({ subscription_id, passes: true })),
      );
      const ours = subscriptions.filter((_, index) => held[index]!.held);
      const answers = await runner.many(
        lapseSubscription,
        ours.map((subscription_id) => ({ subscription_id })),
      );
      const rows = answers as AdvanceRow[];
      await grantPeriods(
        runner,
        rows.flatMap((row, index) => grantOf(row, ours[index]!)),
      );
      const found = new Map(
        ours.map((id, index) => [id, advanced<CreditOutcome<'subscription.lapse'>>(rows[index]!, id)]),
      );
      return subscriptions.map((id) => found.get(id) ?? null);
    });
  }

  /** One subscription. Refuses `no_subscription`. */
  async get(subscription: string): Promise<Subscription> {
    const subscription_id = inputs.subscriptionId(subscription);
    const [row] = await this.#runner.read(getSubscription, [{ subscription_id }]);
    if (!row) throw new Refusal('no_subscription', undefined, { subscription });
    return decode(row);
  }

  /** What happened to it, oldest first. Refuses `no_subscription`. */
  async history(subscription: string): Promise<SubscriptionEvent[]> {
    const subscription_id = inputs.subscriptionId(subscription);
    const rows = await this.#runner.read(subscriptionEvents, [{ subscription_id }]);
    if (rows.length === 0) throw new Refusal('no_subscription', undefined, { subscription });
    return rows.map((row) => ({ ...row, at: new Date(row.at) }));
  }

  /** Those of a customer, or of everybody, in the order of their ids; `cursor` is the one to go on behind, null where that was all. */
  async list(
    options: { customer?: string; status?: Subscription['status']; cursor?: string | null; limit?: number } = {},
  ): Promise<{ subscriptions: Subscription[]; cursor: string | null }> {
    check.onlyFields('list', options, ['customer', 'status', 'cursor', 'limit']);
    const count = check.optionalInteger('limit', options.limit, 1, 1000) ?? 100;
    const statuses = ['pending', 'active', 'past_due', 'expired', 'revoked'] as const;
    const rows = await this.#runner.read(listSubscriptions, [
      {
        customer_id: check.optionalId('customer', options.customer),
        status: (options.status ?? null) === null ? null : check.oneOf('status', options.status, statuses),
        after: check.optionalId('cursor', options.cursor),
        count,
      },
    ]);
    return { subscriptions: rows.map(decode), cursor: rows.length === count ? rows.at(-1)!.subscription : null };
  }

  /** Payments that could neither begin nor renew anything, newest first: somebody has to give that money back. `before`: only older ones. */
  async strayPayments(options: { before?: Date; limit?: number } = {}): Promise<StrayPayment[]> {
    check.onlyFields('strayPayments', options, ['before', 'limit']);
    const count = check.optionalInteger('limit', options.limit, 1, 1000) ?? 100;
    const rows = await this.#runner.read(strayPayments, [{ after: check.instant('before', options.before), count }]);
    return rows.map((row) => ({ ...row, at: new Date(row.at) }));
  }

  #advance(subscription: string, step: (runner: Runner) => Promise<AdvanceRow>): Promise<AdvanceRow> {
    return this.#atomically(async (runner) => {
      await runner.read(holdCustomers, [{ subscription_id: subscription }]);
      const row = await step(runner);
      await grantPeriods(runner, grantOf(row, subscription));
      return row;
    });
  }
}

const grantOf = (row: AdvanceRow, subscription: string): PeriodGrant[] =>
  row.credits === null
    ? []
    : [
        {
          subscription,
          ...{
            wallet: row.wallet,
            of: `${row.period}`,
            credits: row.credits,
            priority: row.priority!,
            expiresAt: row.expires_at,
          },
        },
      ];

function advanced<O extends string>(row: AdvanceRow, subscription: string): Advanced<O> {
  const refusal = refusalOf(row, { subscription, ...(row.other !== null && { other: row.other }) });
  if (refusal) throw refusal;
  return {
    outcome: row.outcome as O,
    status: row.status as Subscription['status'],
    plan: row.plan,
    period: row.period,
    periodStart: dateOr(row.period_start),
    periodEnd: dateOr(row.period_end),
    granted: row.credits ?? 0,
  };
}

const decode = ({ periodStart, periodEnd, startedAt, endedAt, ...row }: SubscriptionRow): Subscription => ({
  ...row,
  periodStart: dateOr(periodStart),
  periodEnd: dateOr(periodEnd),
  startedAt: new Date(startedAt),
  endedAt: dateOr(endedAt),
});
