// Rows that break a rule of the schema of plans, subscriptions and payments, beside rows that are fine.
import type { Row } from './violations.ts';

const AT = '2030-01-01T00:00:00Z';
const LATER = '2030-02-01T00:00:00Z';
const BIG = '9007199254740992';

export const ROWS: Readonly<Record<string, Row>> = {
  plans: {
    ...{ id: 'p', credits: 1, every: 'month', every_count: 1, zone: 'UTC', renews: 'paid', expires: true },
    ...{ priority: 5, grace_ms: 0, status: 'on' },
  },
  subscriptions: {
    ...{ id: 's', customer_id: 'c', wallet_id: 'w', plan_id: 'p', status: 'active', period: 0, anchor_at: AT },
    ...{
      anchor_period: 0,
      period_start: AT,
      period_end: LATER,
      ends_with_period: false,
      due_at: LATER,
      events: 1,
      started_at: AT,
    },
  },
  subscription_periods: {
    ...{ subscription_id: 's', period: 0, period_start: AT, period_end: LATER, granted: 0, earned: 0, earned_at: AT },
  },
  payments: {
    ...{ id: 'p', wallet_id: 'w', credits: 5, amount: 10, paid: true, refunded: 0, disputes: '{}', granted_in: 'w' },
    ...{ granted_seq: 1, granted: 5, taken: 0, bookings: 0, first_at: AT, told_at: AT },
  },
  payment_ids: { id: 'a', payment_id: 'p' },
  subscription_events: { subscription_id: 's', number: 1, type: 'started', at: AT, plan_id: 'p', key: 'k', tx: '1' },
};

const nothing = { granted_in: null, granted_seq: null, granted: 0 };
const bare = { period: null, anchor_at: null, period_start: null, period_end: null };

export const FINE: Readonly<Record<string, readonly Row[]>> = {
  plans: [
    { every: 'day', every_count: 366, renews: 'itself', priority: 0, status: 'off' },
    { every: 'week', priority: 9, grace_ms: 31_536_000_000 },
    { every: 'year', credits: '9007199254740991' },
  ],
  subscriptions: [
    { status: 'past_due' },
    { ...bare, status: 'pending' },
    { ...bare, status: 'expired', due_at: null, ended_at: AT },
    { status: 'revoked', due_at: null, ended_at: AT },
  ],
  payments: [
    { taken: 5, bookings: 1, refunded: 10, priority: 0 },
    { ...nothing, wallet_id: null, credits: null, paid: false, amount: null },
    { wallet_id: null, credits: null, subscription_id: 's', priority: 9 },
  ],
  subscription_periods: [{ granted: 5, earned: 0.5, earned_at: LATER }],
  subscription_events: [
    ...['activated', 'renewed', 'past_due', 'plan_changed', 'plan_planned', 'canceling', 'resumed', 'expired'],
    ...['superseded', 'revoked', 'stray'],
  ].map((type) => ({ type })),
};

export const BROKEN: Readonly<Record<string, readonly Row[]>> = {
  plans_credits: [{ credits: 0 }, { credits: BIG }],
  plans_every: [{ every: 'hour' }, { every_count: 0 }, { every_count: 367 }],
  plans_renews: [{ renews: 'never' }],
  plans_priority: [{ priority: -1 }, { priority: 10 }],
  plans_grace: [{ grace_ms: -1 }, { grace_ms: 31_536_000_001 }],
  plans_status: [{ status: 'gone' }],
  subscriptions_status: [{ status: 'trial', due_at: null }],
  subscriptions_due: [{ due_at: null }, { status: 'expired', ended_at: AT }],
  subscriptions_ended: [{ ended_at: AT }, { status: 'revoked', due_at: null }],
  subscriptions_period: [
    bare,
    { ...bare, status: 'past_due' },
    { ...bare, status: 'pending', period: 0 },
    { ...bare, status: 'pending', period_start: AT },
    { ...bare, status: 'pending', period_end: AT },
    { ...bare, status: 'pending', anchor_at: AT },
    { period_end: AT },
  ],
  subscriptions_events: [{ events: 0 }],
  subscription_periods_period: [{ period: -1 }, { period_end: AT }],
  subscription_periods_granted: [{ granted: -1 }],
  subscription_periods_earned: [
    { earned: -1 },
    { earned_at: '2029-12-31T23:59:59Z' },
    { earned_at: '2030-02-01T00:00:01Z' },
  ],
  payments_for: [{ subscription_id: 's' }],
  payments_credits: [{ credits: null }, { credits: 0 }, { credits: BIG }, { wallet_id: null }],
  payments_priority: [{ priority: -1 }, { priority: 10 }],
  payments_amount: [{ amount: 0 }, { amount: BIG }],
  payments_refunded: [{ refunded: -1 }, { refunded: BIG }],
  payments_granted: [
    { granted_seq: null },
    { granted_in: null },
    { granted: 0 },
    { ...nothing, granted: -1, taken: -1 },
    { paid: false },
  ],
  payments_taken: [{ taken: -1 }, { taken: 6 }],
  payments_bookings: [{ bookings: -1 }],
  payment_ids_other: [{ payment_id: 'a' }],
  subscription_events_type: [{ type: 'paid' }],
};

export const TWICE: Readonly<Record<string, readonly [Row, Row]>> = {
  plans_pkey: [{}, { credits: 2 }],
  subscriptions_pkey: [{}, { customer_id: 'other' }],
  subscriptions_live: [{ status: 'past_due' }, { ...bare, id: 'other', status: 'pending' }],
  subscription_periods_pkey: [{}, { period_start: '2029-12-31T00:00:00Z' }],
  subscription_periods_start: [{}, { period: 1 }],
  payments_pkey: [{}, { amount: 11 }],
  payment_ids_pkey: [{}, { payment_id: 'q' }],
  subscription_events_pkey: [{}, { key: 'other' }],
  subscription_events_once: [{}, { number: 2 }],
};
