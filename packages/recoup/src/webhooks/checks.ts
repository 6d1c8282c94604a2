// What verify holds of webhooks.

export const webhookChecks = [
  {
    name: 'webhooks.deliveries',
    promise: 'An event has one delivery at an endpoint, which is there and has a secret to sign it with.',
    sql: `
select null::text as wallet, null::bigint as seq, null::text as job,
  case when d.id is null then 'endpoint ' || e.id || ' has no secret that signs'
    when d.count > 1 then 'the event ' || d.event || ' has ' || d.count || ' deliveries at ' || d.endpoint_id
    else 'there are deliveries of ' || d.endpoint_id || ', which is no endpoint' end as detail
from (select endpoint_id, event, min(id) as id, count(*) as count from recoup.webhook_deliveries group by endpoint_id, event) d
full join recoup.webhook_endpoints e on e.id = d.endpoint_id
where d.count > 1 or e.id is null
  or not exists (select from recoup.webhook_secrets s where s.endpoint_id = e.id and s.ends_at is null)
order by 4 limit $1`,
  },
] as const;
