// subscription.start: a checkout begins. One that the customer began before and has not paid is superseded.
import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { LIVES } from './held.ts';

export interface StartRow extends RawAnswer {
  other: string | null;
  there: { customer: string; wallet: string; plan: string } | null;
}

const columns = {
  subscription_id: 'text',
  customer_id: 'text',
  wallet_id: 'text',
  plan_id: 'text',
  pending_ms: 'bigint',
  actor: 'text',
} as const;

/**
 * Guard: none of that id, a plan that takes new ones, a wallet of the customer's, and no subscription of his that is active or past due. The
 * customer is held (see held.ts); a pending one of his makes way.
 */
export const startSubscription = statement<typeof columns, StartRow>(
  'subscription.start',
  columns,
  () => `
judged as materialized (
  select i.*, recoup.clock() as now, o.id as other, o.status as other_status, o.events as other_events, o.plan_id as other_plan,
    s.id as there, s.customer_id as old_customer, s.wallet_id as old_wallet, e.plan_id as old_plan,
    case
      when s.id is not null then case when (s.customer_id, s.wallet_id, e.plan_id) = (i.customer_id, i.wallet_id, i.plan_id) then 'duplicate' else 'conflict' end
      when row_number() over (partition by i.customer_id order by i.ord) > 1 then 'again'
      when q.id is null or q.status = 'off' then 'no_plan'
      when w.id is null then 'no_wallet'
      when o.status <> 'pending' then 'already_subscribed'
      else 'started' end as verdict
  from input i
  left join recoup.subscriptions s on s.id = i.subscription_id
  left join recoup.subscription_events e on e.subscription_id = s.id and e.number = 1
  left join recoup.plans q on q.id = i.plan_id
  left join recoup.wallets w on w.id = i.wallet_id and w.customer_id = i.customer_id
  left join lateral (
    select * from recoup.subscriptions o where o.customer_id = i.customer_id and o.status in ${LIVES} limit 1) o on true),
gone as (
  update recoup.subscriptions s set status = 'expired', due_at = null, ended_at = j.now, events = s.events + 1
  from judged j where j.verdict = 'started' and s.id = j.other and s.status = 'pending'
  returning s.id, s.events, s.plan_id, j.now),
made as (
  insert into recoup.subscriptions (id, customer_id, wallet_id, plan_id, status, due_at, started_at)
  select subscription_id, customer_id, wallet_id, plan_id, 'pending', now + pending_ms * interval '1 millisecond', now
  from judged j where verdict = 'started' and (select count(*) from gone) >= 0
  returning id),
told as (
  insert into recoup.subscription_events (subscription_id, number, type, at, plan_id, actor)
  select subscription_id, 1, 'started', now, plan_id, actor from judged where verdict = 'started'
  union all select id, events, 'superseded', now, plan_id, null from gone)${answerEach('judged', 'verdict', {
    other: 'other',
    there: `case when there is not null then json_build_object('customer', old_customer, 'wallet', old_wallet, 'plan', old_plan) end`,
  })}`,
  { holds: 'subscription_id' },
);
