// Reads of subscriptions: one with its history, lists, what is due, payments that found no place.
import { statement } from '../db/statement.ts';
import type { Plan } from './set-plan.ts';

export interface SubscriptionRow {
  subscription: string;
  customer: string;
  wallet: string;
  plan: string;
  /** The plan of the next period, where it is another one. */
  nextPlan: string | null;
  status: 'pending' | 'active' | 'past_due' | 'expired' | 'revoked';
  /** The newest period that was granted, counted from 0. */
  period: number | null;
  periodStart: string | null;
  periodEnd: string | null;
  /** It ends with the period. */
  endsWithPeriod: boolean;
  startedAt: string;
  endedAt: string | null;
}

const json = (
  s: string,
) => `json_build_object('subscription', ${s}.id, 'customer', ${s}.customer_id, 'wallet', ${s}.wallet_id,
  'plan', ${s}.plan_id, 'nextPlan', ${s}.next_plan_id, 'status', ${s}.status, 'period', ${s}.period, 'periodStart', ${s}.period_start,
  'periodEnd', ${s}.period_end, 'endsWithPeriod', ${s}.ends_with_period, 'startedAt', ${s}.started_at, 'endedAt', ${s}.ended_at)`;

const one = { subscription_id: 'text' } as const;

export const getSubscription = statement<typeof one, SubscriptionRow>(
  'subscription.get',
  one,
  () => `
found as (select s.* from input i join recoup.subscriptions s on s.id = i.subscription_id)
select coalesce(json_agg(${json('f')}), '[]')::text as answer from found f`,
);

const pageOfPlans = { after: 'text', count: 'int' } as const;

/** Plans in the order of their ids. */
export const listPlans = statement<typeof pageOfPlans, Plan>(
  'subscription.plans',
  pageOfPlans,
  () => `
found as (select p.* from input i cross join lateral (
  select * from recoup.plans where id > coalesce(i.after, '') order by id limit i.count) p)
select coalesce(json_agg(json_build_object('plan', id, 'credits', credits, 'every', every, 'everyCount', every_count, 'zone', zone, 'renews', renews,
  'expires', expires, 'priority', priority, 'graceMs', grace_ms, 'status', status) order by id), '[]')::text as answer from found`,
);

const page = { customer_id: 'text', status: 'text', after: 'text', count: 'int' } as const;

/** Of a customer, or all, in the order of their ids. */
export const listSubscriptions = statement<typeof page, SubscriptionRow>(
  'subscription.list',
  page,
  () => `
found as (
  (select s.* from input i cross join lateral (
     select * from recoup.subscriptions s where s.customer_id = i.customer_id and s.id > coalesce(i.after, '')
       and (i.status is null or s.status = i.status) order by s.id limit i.count) s)
  union all
  (select s.* from input i cross join lateral (
     select * from recoup.subscriptions s where i.customer_id is null and s.id > coalesce(i.after, '')
       and (i.status is null or s.status = i.status) order by s.id limit i.count) s))
select coalesce(json_agg(${json('f')} order by f.id), '[]')::text as answer from found f`,
);

export interface SubscriptionEventRow {
  number: number;
  type: string;
  at: string;
  plan: string;
  period: number | null;
  key: string | null;
  actor: string | null;
  reason: string | null;
}

/** What happened to one, in order. */
export const subscriptionEvents = statement<typeof one, SubscriptionEventRow>(
  'subscription.events',
  one,
  () => `
found as (select e.* from input i join recoup.subscription_events e on e.subscription_id = i.subscription_id)
select coalesce(json_agg(json_build_object('number', number, 'type', type, 'at', at, 'plan', plan_id, 'period', period, 'key', key,
  'actor', actor, 'reason', reason) order by number), '[]')::text as answer from found`,
);

const due = { after_at: 'timestamptz', after_id: 'text', count: 'int' } as const;

export interface DueSubscription {
  subscription: string;
  at: string;
}

/** Those whose time is up, the longest due first. */
export const dueSubscriptions = statement<typeof due, DueSubscription>(
  'subscription.due',
  due,
  () => `
found as (
  select s.id, s.due_at from input i
  cross join lateral (
    select id, due_at from recoup.subscriptions
    where due_at is not null and due_at <= recoup.clock() and (due_at, id) > (coalesce(i.after_at, '-infinity'), coalesce(i.after_id, ''))
    order by due_at, id limit i.count) s)
select coalesce(json_agg(json_build_object('subscription', id, 'at', due_at) order by due_at, id), '[]')::text as answer from found`,
);

const strays = { after: 'timestamptz', count: 'int' } as const;

export interface StrayRow {
  subscription: string;
  customer: string;
  number: number;
  key: string;
  reason: string | null;
  at: string;
}

/** Payments that could begin or renew nothing, newest first: money that somebody has to give back. */
export const strayPayments = statement<typeof strays, StrayRow>(
  'subscription.strays',
  strays,
  () => `
found as (
  select e.*, s.customer_id from input i
  cross join lateral (
    select * from recoup.subscription_events e where e.type = 'stray' and (i.after is null or e.at < i.after) order by e.at desc limit i.count) e
  join recoup.subscriptions s on s.id = e.subscription_id)
select coalesce(json_agg(json_build_object('subscription', subscription_id, 'customer', customer_id, 'number', number, 'key', key,
  'reason', reason, 'at', at) order by at desc), '[]')::text as answer from found`,
);
