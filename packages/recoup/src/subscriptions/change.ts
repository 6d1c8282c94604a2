// subscription.change: another plan, now or from the next period.
import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { heldSubscriptions, saidBefore, writeSubscriptions } from './held.ts';

export interface ChangeRow extends RawAnswer {
  wallet: string;
  status: string;
  period_end: string | null;
  event_number: number | null;
  credits: number | null;
  priority: number | null;
  expires_at: string | null;
}

const columns = {
  subscription_id: 'text',
  to_plan: 'text',
  at_once: 'boolean',
  key: 'text',
  actor: 'text',
  reason: 'text',
} as const;

/** The part of the period between two instants in it. */
const part = (from: string, to: string) =>
  `(extract(epoch from ${to} - ${from}) / extract(epoch from period_end - period_start))`;

/**
 * Guard: it is active or past due, and the plan takes new ones. At once: the period goes on, and what the two plans grant counts by the time that
 * each of them had of it. What is missing to that is granted, and nothing is taken: who goes up, down and up again gets no more than the time on
 * the better plan is worth. A plan of another length can only begin with the next period.
 */
export const changeSubscription = statement<typeof columns, ChangeRow>(
  'subscription.change',
  columns,
  () => `${heldSubscriptions},
judged as materialized (
  select h.*, q.credits as new_credits, q.priority, q.expires, old.credits as old_credits, r.granted, r.earned, r.earned_at,
    case ${saidBefore}
      when h.status not in ('active', 'past_due') then 'subscription_ended'
      when q.id is null or q.status = 'off' then 'no_plan'
      when coalesce(next_plan_id, plan_id) = to_plan and (next_plan_id is null or not at_once) then 'duplicate'
      when not at_once then 'plan_planned'
      when (q.every, q.every_count, q.zone) <> (h.every, h.every_count, h.zone) then 'other_length'
      else 'plan_changed' end as verdict
  from held h
  left join recoup.plans q on q.id = h.to_plan
  left join recoup.plans old on old.id = h.plan_id
  left join recoup.subscription_periods r on r.subscription_id = h.subscription_id and r.period = h.period),
fair as materialized (
  select j.*, earned + old_credits * ${part('earned_at', 'at')} as earned_now,
    greatest(floor(earned + old_credits * ${part('earned_at', 'at')} + new_credits * ${part('at', 'period_end')}) - granted, 0)::bigint as missing
  from (select *, least(greatest(now, earned_at), period_end) as at from judged) j),
next as materialized (
  select ord, subscription_id, key, actor, reason, now, customer_id, wallet_id, started_at, events, verdict,
    case when verdict in ('plan_changed', 'plan_planned') then verdict end as event,
    case when verdict = 'plan_changed' then to_plan else plan_id end as plan_id,
    case when verdict = 'plan_changed' or to_plan = plan_id then null else to_plan end as next_plan_id,
    status, anchor_at, anchor_period, every, every_count, zone, period, period_start, period_end, ends_with_period, due_at, ended_at,
    at, earned_now, case when verdict = 'plan_changed' and missing > 0 then missing end as credits, priority,
    case when expires then period_end end as expires_at
  from fair),
${writeSubscriptions},
granted as (
  update recoup.subscription_periods r set granted = r.granted + coalesce(n.credits, 0), earned = n.earned_now, earned_at = n.at
  from next n where n.event = 'plan_changed' and r.subscription_id = n.subscription_id and r.period = n.period)${answerEach(
    'next',
    'verdict',
    {
      wallet: 'wallet_id',
      status: 'status',
      period_end: 'period_end',
      event_number: 'case when event is not null then events + 1 end',
      credits: 'credits',
      priority: 'priority',
      expires_at: 'expires_at',
    },
  )}`,
  { holds: 'subscription_id' },
);
