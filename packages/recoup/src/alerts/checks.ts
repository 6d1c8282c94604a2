// What verify holds of alerts.

export const alertChecks = [
  {
    name: 'alerts.events',
    promise:
      'A condition fires once until it recovers: its alerts are numbered 1, 2, 3 … , only the last one may fire, and each has one event per change.',
    sql: `
select null::text as wallet, null::bigint as seq, null::text as job,
  'alert ' || coalesce(a.kind, e.kind) || ' of ' || coalesce(a.subject, e.subject) || case
    when a.kind is null then ' has events and is not there'
    when a.number <> a.expected then ' has no number ' || a.expected
    when a.recovered_at is null and a.number <> a.last then ' fires as number ' || a.number || ', and there is a later one'
    else ' of number ' || a.number || ' and its events disagree' end as detail
from (
  select x.*, row_number() over w as expected, max(number) over (partition by kind, subject) as last
  from recoup.alerts x window w as (partition by kind, subject order by number)) a
full join (
  select kind, subject, number, count(*) filter (where type = 'firing') as firings, count(*) filter (where type = 'recovered') as recoveries
  from recoup.alert_events group by kind, subject, number) e using (kind, subject, number)
where a.fired_at is null or a.number <> a.expected or (a.recovered_at is null and a.number <> a.last)
  or e.firings is distinct from 1 or e.recoveries is distinct from (a.recovered_at is not null)::int
order by 4 limit $1`,
  },
] as const;
