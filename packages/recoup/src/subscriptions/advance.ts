// What paying and lapsing share: the next period of a subscription, or its end.
import type { RawAnswer } from '../db/runner.ts';
import { answerEach } from '../db/statement.ts';
import { heldSubscriptions, writeSubscriptions } from './held.ts';
import { periodAt, periodStart } from './periods.ts';

export interface AdvanceRow extends RawAnswer {
  customer: string;
  wallet: string;
  status: string;
  plan: string;
  period: number | null;
  period_start: string | null;
  period_end: string | null;
  /** What the period grants; null: nothing is to be granted. */
  credits: number | null;
  priority: number | null;
  expires_at: string | null;
  other: string | null;
}

/** What both are given. */
export const advanceColumns = { subscription_id: 'text', key: 'text', actor: 'text', reason: 'text' } as const;

/**
 * `verdict` of a held row: what happens, as the type of its event, or an answer that changes nothing. `begins` are those after which a new period
 * begins: the one that holds this instant, or the one after the newest that was granted, whichever is later: after a long silence only the
 * present one. A plan of another length counts its periods from the end of the last one.
 */
export const advance = (verdict: string) => `${heldSubscriptions},
judged as materialized (
  select h.*, case when not there then 'no_subscription' when twin > 1 then 'again' ${verdict} end as verdict
  from held h left join lateral (select renews from recoup.plans where id = coalesce(h.next_plan_id, h.plan_id)) q on true),
anchored as materialized (
  select j.*, q.id as q_id, q.credits, q.priority, q.expires, q.grace_ms, a.*
  from judged j
  join recoup.plans q on q.id = case when j.verdict = 'renewed' then coalesce(j.next_plan_id, j.plan_id) else j.plan_id end
  cross join lateral (
    select case when fresh then j.now when other_length then j.period_end else j.anchor_at end as to_anchor,
      case when fresh or other_length then coalesce(j.period + 1, 0) else j.anchor_period end as to_anchor_period,
      case when fresh or other_length then q.every else j.every end as to_every,
      case when fresh or other_length then q.every_count else j.every_count end as to_every_count,
      case when fresh or other_length then q.zone else j.zone end as to_zone
    from (select j.verdict = 'activated' as fresh, j.verdict = 'renewed' and (q.every, q.every_count, q.zone) <> (j.every, j.every_count, j.zone) as other_length) f) a),
counted as materialized (
  select c.*, case verdict when 'activated' then to_anchor_period
      when 'renewed' then greatest(c.period + 1, ${periodAt('p', 'c.now')}) end as to_period
  from anchored c
  cross join lateral (select c.to_anchor as anchor_at, c.to_anchor_period as anchor_period, c.to_every as every, c.to_every_count as every_count, c.to_zone as zone) p),
timed as materialized (
  select t.*, ${periodStart('p', 't.to_period')} as to_start, ${periodStart('p', '(t.to_period + 1)')} as to_end
  from counted t
  cross join lateral (select t.to_anchor as anchor_at, t.to_anchor_period as anchor_period, t.to_every as every, t.to_every_count as every_count, t.to_zone as zone) p),
next as materialized (
  select ord, subscription_id, key, actor, reason, now, customer_id, wallet_id, started_at, events, other, verdict, known_period,
    case when verdict in ('activated', 'renewed', 'past_due', 'expired') then verdict
      when verdict in ('already_subscribed', 'subscription_ended') and known_type is null then 'stray' end as event,
    case when begins then q_id else plan_id end as plan_id, case when begins then null else next_plan_id end as next_plan_id,
    case when begins then 'active' when verdict in ('past_due', 'expired') then verdict else status end as status,
    case when begins then to_anchor else anchor_at end as anchor_at, case when begins then to_anchor_period else anchor_period end as anchor_period,
    case when begins then to_every else every end as every, case when begins then to_every_count else every_count end as every_count,
    case when begins then to_zone else zone end as zone,
    case when begins then to_period else period end as period, case when begins then to_start else period_start end as period_start,
    case when begins then to_end else period_end end as period_end, ends_with_period and not begins as ends_with_period,
    case when begins then to_end when verdict = 'past_due' then period_end + grace_ms * interval '1 millisecond'
      when verdict = 'expired' then null else due_at end as due_at,
    case when begins then null when verdict = 'expired' then now else ended_at end as ended_at,
    case when begins then credits end as credits, priority, case when begins and expires then to_end end as expires_at
  from (select t.*, verdict in ('activated', 'renewed') as begins from timed t) t),
${writeSubscriptions},
granted as (
  insert into recoup.subscription_periods (subscription_id, period, period_start, period_end, granted, earned_at)
  select subscription_id, period, period_start, period_end, credits, period_start from next where credits is not null)${answerEach(
    'judged j left join next n using (ord)',
    'j.verdict',
    {
      customer: 'j.customer_id',
      wallet: 'j.wallet_id',
      status: 'coalesce(n.status, j.status)',
      plan: 'coalesce(n.plan_id, j.plan_id)',
      period: `case when j.verdict = 'duplicate' then coalesce(j.known_period, j.period) else n.period end`,
      period_start: 'n.period_start',
      period_end: 'n.period_end',
      credits: 'n.credits',
      priority: 'n.priority',
      expires_at: 'n.expires_at',
      other: 'j.other',
    },
  )}`;
