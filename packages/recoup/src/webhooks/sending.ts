// webhook.lease, webhook.report: a sender takes what is due, and says how it went.

import { type Columns, statement } from '../db/statement.ts';
import { MAX_TRIES, retryAt } from './rules.ts';

const leasing = { endpoint_id: 'text', count: 'int', lease_ms: 'bigint' } as const satisfies Columns;

export interface LeasedRow {
  id: string;
  attempt: number;
  tries: number;
  kind: string;
  url: string;
  body: string;
  /** What signs it, base64: the newest first. */
  secrets: string[];
}

/**
 * Guard: due, the endpoint on; rows that are locked are passed over. Until its lease is over nobody else sends it; then it is due again, so
 * that a sender that dies leaves nothing behind.
 */
export const leaseDeliveries = statement<typeof leasing, LeasedRow>(
  'webhook.lease',
  leasing,
  () => `
held as materialized (
  select d.id, e.url, i.lease_ms from input i
  join recoup.webhook_endpoints e on e.id = i.endpoint_id and e.status = 'on'
  cross join lateral (
    select id from recoup.webhook_deliveries d where d.endpoint_id = e.id and d.due_at <= recoup.clock()
    order by d.due_at limit i.count for no key update skip locked) d),
won as (
  update recoup.webhook_deliveries d set attempt = d.attempt + 1, tries = d.tries + 1,
    due_at = recoup.clock() + h.lease_ms * interval '1 millisecond'
  from held h where d.id = h.id
  returning d.id, d.attempt, d.tries, d.kind, h.url, d.payload::text as body, d.endpoint_id, d.happened_at)
select coalesce(json_agg(json_build_object('id', id, 'attempt', attempt, 'tries', tries, 'kind', kind, 'url', url, 'body', body,
  'secrets', (select json_agg(translate(encode(s.value, 'base64'), chr(10), '') order by s.number desc) from recoup.webhook_secrets s
    where s.endpoint_id = won.endpoint_id and (s.ends_at is null or s.ends_at > recoup.clock())))
  order by happened_at, id), '[]')::text as answer
from won`,
);

const reporting = {
  id: 'text',
  attempt: 'int',
  delivered: 'boolean',
  gone: 'boolean',
  status: 'int',
  error: 'text',
  retry_after_ms: 'bigint',
} as const satisfies Columns;

export interface ReportedRow {
  outcome: string;
  /** When it is sent again. */
  dueAt: string | null;
}

/** Guard: pending, attempt = n. A report of an attempt whose delivery was leased again, replayed or removed changes nothing (`stale`). */
export const reportDelivery = statement<typeof reporting, ReportedRow>(
  'webhook.report',
  reporting,
  () => `
held as materialized (
  select i.*, d.*, case when i.delivered then 'delivered' when d.tries >= ${MAX_TRIES} then 'dead' else 'pending' end as next_state
  from input i
  cross join lateral (
    select d.id as d_id, d.endpoint_id, d.tries from recoup.webhook_deliveries d
    where d.id = i.id and d.attempt = i.attempt and d.due_at is not null for no key update) d),
won as (
  update recoup.webhook_deliveries d set state = h.next_state, last_at = recoup.clock(), last_status = h.status, last_error = h.error,
    due_at = case when h.next_state = 'pending' then ${retryAt('d', 'h.retry_after_ms')} end,
    ended_at = case when h.next_state <> 'pending' then recoup.clock() end
  from held h where d.id = h.d_id
  returning d.state, d.due_at),
closed as (
  update recoup.webhook_endpoints e set status = 'gone' from held h where h.gone and e.id = h.endpoint_id and e.status = 'on')
select json_build_array(json_build_object('outcome', case when w.state is null then 'stale' when w.state = 'pending' and i.gone then 'gone'
  when w.state = 'pending' then 'retrying' else w.state end, 'dueAt', w.due_at))::text as answer
from input i left join won w on true`,
);

const extending = { count: 'int', delivered_ms: 'bigint', dead_ms: 'bigint' } as const satisfies Columns;

/** Deliveries that ended long ago go, a bounded number each time. */
export const forgetDeliveries = statement<typeof extending, { forgotten: number }>(
  'webhook.forget',
  extending,
  () => `
delivered as (
  select id from recoup.webhook_deliveries
  where state = 'delivered' and ended_at < recoup.clock() - (select delivered_ms from input) * interval '1 millisecond'
  order by ended_at limit (select count from input) for update skip locked),
dead as (
  select id from recoup.webhook_deliveries
  where state = 'dead' and ended_at < recoup.clock() - (select dead_ms from input) * interval '1 millisecond'
  order by ended_at limit (select count from input) for update skip locked),
old as materialized (select id from delivered union all select id from dead),
gone as (delete from recoup.webhook_deliveries d using old o where d.id = o.id returning d.id)
select json_build_array(json_build_object('forgotten', (select count(*) from gone)))::text as answer`,
);
