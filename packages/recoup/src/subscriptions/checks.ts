// What verify holds of subscriptions.

export const subscriptionChecks = [
  {
    name: 'subscriptions.periods',
    promise:
      'Each period of a subscription granted what it says, once; periods of one do not overlap, and the newest is the one it is in.',
    sql: `
select s.wallet_id as wallet, null::bigint as seq, null::text as job, detail from (
  select p.subscription_id, case
      when s.id is null then 'a period of no subscription'
      when p.period_start < lag(p.period_end) over x then 'period ' || p.period || ' of ' || s.id || ' overlaps the one before'
      when lead(p.period) over x is null and p.period <> s.period then s.id || ' is in period ' || s.period || ', its newest is ' || p.period
      when coalesce(g.granted, 0) <> p.granted
        then 'period ' || p.period || ' of ' || s.id || ' says ' || p.granted || ' was granted, the ledger ' || coalesce(g.granted, 0)
    end as detail
  from recoup.subscription_periods p
  left join recoup.subscriptions s on s.id = p.subscription_id
  left join lateral (
    select sum(e.amount) as granted from recoup.entries e
    where e.wallet_id = s.wallet_id and e.type = 'grant' and e.key in (
      select 'subscription/' || s.id || '/' || p.period
      union all
      select 'subscription/' || s.id || '/change-' || v.number from recoup.subscription_events v
      where v.subscription_id = s.id and v.type = 'plan_changed' and v.period = p.period)) g on true
  window x as (partition by p.subscription_id order by p.period)) y
left join recoup.subscriptions s on s.id = y.subscription_id
where detail is not null
order by 1, 4 limit $1`,
  },
  {
    name: 'subscriptions.events',
    promise:
      'What happened to a subscription is numbered 1, 2, 3 … without a gap, and its status is what happened last.',
    sql: `
select s.wallet_id as wallet, null::bigint as seq, null::text as job,
  coalesce(s.id, e.subscription_id) || case when s.id is null then ' has events and is not there' when e.count is null then ' has no events'
    when e.count <> s.events or e.last <> s.events or e.first <> 1 then ' counts ' || s.events || ' events and has ' || e.count || ', ' || e.first || ' to ' || e.last
    else ' is ' || s.status || ', what happened last is ' || e.type end as detail
from recoup.subscriptions s
full join (
  select subscription_id, count(*) as count, min(number) as first, max(number) as last,
    (array_agg(type order by number desc) filter (where type in ('started', 'activated', 'renewed', 'past_due', 'expired', 'superseded', 'revoked')))[1] as type
  from recoup.subscription_events group by subscription_id) e on e.subscription_id = s.id
where s.id is null or e.count is null or e.count <> s.events or e.last <> s.events or e.first <> 1
  or s.status is distinct from case e.type when 'started' then 'pending' when 'activated' then 'active' when 'renewed' then 'active'
    when 'superseded' then 'expired' else e.type end
order by 1, 4 limit $1`,
  },
] as const;
