// What subscriptions are given: inputs checked into rows.
import { InvalidInput } from '../errors.ts';
import * as check from '../input.ts';
import { zone } from '../windows/inputs.ts';
import type { Plan } from './set-plan.ts';

/** Of a new plan `credits` and `every` are needed; of one that is there what is not given stays. */
export type SetPlan = Pick<Plan, 'plan'> & Partial<Omit<Plan, 'plan'>>;

export interface StartSubscription {
  subscription: string;
  customer: string;
  /** Of the customer: the credit goes there. */
  wallet: string;
  plan: string;
  /** How long it waits for its payment: 1 minute to 30 days, a day unless set. */
  pendingMs?: number;
  actor?: string;
}

export interface PaySubscription {
  subscription: string;
  /** Of the payment (an invoice, a charge): once per subscription, for ever. */
  key: string;
  actor?: string;
  /** A short code that stays. */
  reason?: string;
}

export interface ChangePlan {
  subscription: string;
  plan: string;
  /** `now`, with a fair part of what the period grants; or from the next `period`. */
  from: 'now' | 'period';
  /** Of yours: said again with it, it changes nothing more. */
  key?: string;
  actor?: string;
  reason?: string;
}

export interface CancelSubscription {
  subscription: string;
  /** `now`; with the end of the `period`; or `never`, which takes that back. */
  at: 'now' | 'period' | 'never';
  key?: string;
  actor?: string;
  reason?: string;
}

const DAY_MS = 86_400_000;
/** Its keys and those of its grants hold the id and a little more. */
const MAX_SUBSCRIPTION = 150;

export function subscriptionId(value: unknown): string {
  const id = check.id('subscription', value);
  if ([...id].length > MAX_SUBSCRIPTION)
    throw new InvalidInput('subscription', `must have at most ${MAX_SUBSCRIPTION} characters; got ${[...id].length}`);
  return id;
}

const oneOrNull = <T extends string>(field: string, value: T | undefined, allowed: readonly T[]) =>
  (value ?? null) === null ? null : check.oneOf(field, value, allowed);

export function planInput(input: SetPlan) {
  const fields = [
    'plan',
    'credits',
    'every',
    'everyCount',
    'zone',
    'renews',
    'expires',
    'priority',
    'graceMs',
    'status',
  ];
  check.onlyFields('plan', input, fields);
  return {
    plan_id: check.id('plan', input.plan),
    credits: check.optionalInteger('credits', input.credits, 1, check.MAX_AMOUNT),
    every: oneOrNull('every', input.every, ['day', 'week', 'month', 'year'] as const),
    every_count: check.optionalInteger('everyCount', input.everyCount, 1, 366),
    zone: (input.zone ?? null) === null ? null : zone(input.zone),
    renews: oneOrNull('renews', input.renews, ['paid', 'itself'] as const),
    expires: (input.expires ?? null) === null ? null : check.flag('expires', input.expires, true),
    priority: check.optionalInteger('priority', input.priority, 0, 9),
    grace_ms: check.optionalInteger('graceMs', input.graceMs, 0, 365 * DAY_MS),
    status: oneOrNull('status', input.status, ['on', 'off'] as const),
  };
}

export function startInput(input: StartSubscription) {
  check.onlyFields('start', input, ['subscription', 'customer', 'wallet', 'plan', 'pendingMs', 'actor']);
  return {
    subscription_id: subscriptionId(input.subscription),
    customer_id: check.id('customer', input.customer),
    wallet_id: check.id('wallet', input.wallet),
    plan_id: check.id('plan', input.plan),
    pending_ms: check.optionalInteger('pendingMs', input.pendingMs, 60_000, 30 * DAY_MS) ?? DAY_MS,
    actor: check.optionalId('actor', input.actor),
  };
}

const said = (input: { actor?: string; reason?: string }) => ({
  actor: check.optionalId('actor', input.actor),
  reason: check.text('reason', input.reason, check.MAX_ID),
});

export function payInput(input: PaySubscription) {
  check.onlyFields('pay', input, ['subscription', 'key', 'actor', 'reason']);
  return { subscription_id: subscriptionId(input.subscription), key: check.id('key', input.key), ...said(input) };
}

export function changeInput(input: ChangePlan) {
  check.onlyFields('change', input, ['subscription', 'plan', 'from', 'key', 'actor', 'reason']);
  return {
    subscription_id: subscriptionId(input.subscription),
    to_plan: check.id('plan', input.plan),
    at_once: check.oneOf('from', input.from, ['now', 'period'] as const) === 'now',
    key: check.optionalId('key', input.key),
    ...said(input),
  };
}

export function cancelInput(input: CancelSubscription) {
  check.onlyFields('cancel', input, ['subscription', 'at', 'key', 'actor', 'reason']);
  return {
    subscription_id: subscriptionId(input.subscription),
    how: check.oneOf('at', input.at, ['now', 'period', 'never'] as const),
    key: check.optionalId('key', input.key),
    ...said(input),
  };
}
