// webhook.register, webhook.change, webhook.rotate and webhook.remove: who is told, of what, and what proves that it was us.

import { type Columns, statement } from '../db/statement.ts';
import { horizon, NEWEST } from './rules.ts';

export interface EndpointOutcome {
  outcome: string;
}

const registering = {
  endpoint_id: 'text',
  url: 'text',
  kinds: 'jsonb',
  low_balance: 'bigint',
  status: 'text',
  secret: 'text',
} as const satisfies Columns;

const kindsOf = (json: string) =>
  `(select array_agg(k order by k collate "C") from jsonb_array_elements_text(${json}) k)`;

/**
 * Guard: none of that id; else it has to be the same. It is told of what is not final yet: of what happens from about now on. Who comes second
 * at the same moment looks again.
 */
export const registerEndpoint = statement<typeof registering, EndpointOutcome>(
  'webhook.register',
  registering,
  () => `
made as (
  insert into recoup.webhook_endpoints (id, url, kinds, status, low_balance, position, epoch, looked_at, registered_at)
  select endpoint_id, url, ${kindsOf('kinds')}, status, low_balance, ${horizon(NEWEST)}, ${NEWEST}, recoup.clock(), recoup.clock() from input
  on conflict (id) do nothing
  returning id),
keyed as (
  insert into recoup.webhook_secrets (endpoint_id, number, value, made_at)
  select m.id, 1, decode(i.secret, 'base64'), recoup.clock() from made m cross join input i)
select json_build_array(json_build_object('outcome', case
  when exists (select from made) then 'registered' when e.id is null then 'again'
  when e.url = i.url and e.kinds = ${kindsOf('i.kinds')} and e.low_balance is not distinct from i.low_balance then 'duplicate'
  else 'conflict' end))::text as answer
from input i left join recoup.webhook_endpoints e on e.id = i.endpoint_id`,
);

const changing = {
  endpoint_id: 'text',
  url: 'text',
  kinds: 'jsonb',
  low_balance: 'bigint',
  low_given: 'boolean',
  status: 'text',
  skip: 'boolean',
} as const satisfies Columns;

/**
 * Guard: it is there. What happened while it was off is told when it is on again, unless that is to be left out: then it begins anew, and
 * what was still to be sent goes.
 */
export const changeEndpoint = statement<typeof changing, EndpointOutcome>(
  'webhook.change',
  changing,
  () => `
held as materialized (
  select e.*, coalesce(i.url, e.url) as next_url, coalesce(${kindsOf('i.kinds')}, e.kinds) as next_kinds, coalesce(i.status, e.status) as next_status,
    case when i.low_given then i.low_balance else e.low_balance end as next_low, coalesce(i.skip, false) as skips
  from input i cross join lateral (select * from recoup.webhook_endpoints where id = i.endpoint_id for no key update) e),
seen as materialized (
  select h.*, case when 'wallet.low' = any (next_kinds) and next_low is null then 'low_needed'
    when not skips and (next_url, next_kinds, next_status) = (url, kinds, status) and next_low is not distinct from low_balance then 'duplicate'
    else 'changed' end as verdict
  from held h),
won as (
  update recoup.webhook_endpoints e set url = s.next_url, kinds = s.next_kinds, status = s.next_status, low_balance = s.next_low,
    position = case when s.skips then ${horizon(NEWEST)} else e.position end, epoch = case when s.skips then ${NEWEST} else e.epoch end
  from seen s where e.id = s.id and s.verdict = 'changed'),
gone as (
  delete from recoup.webhook_deliveries d using seen s
  where s.verdict = 'changed' and s.skips and d.endpoint_id = s.id and d.due_at is not null)
select json_build_array(json_build_object('outcome', coalesce((select verdict from seen), 'no_endpoint')))::text as answer`,
);

const rotating = { endpoint_id: 'text', secret: 'text', keep_ms: 'bigint' } as const satisfies Columns;

/** Guard: it is there. The secrets of before sign too until they end; those that have ended go. */
export const rotateSecret = statement<typeof rotating, EndpointOutcome>(
  'webhook.rotate',
  rotating,
  () => `
held as materialized (
  select e.id, i.secret, i.keep_ms from input i
  cross join lateral (select id from recoup.webhook_endpoints where id = i.endpoint_id for no key update) e),
gone as (
  delete from recoup.webhook_secrets s using held h where s.endpoint_id = h.id and s.ends_at <= recoup.clock()),
kept as (
  update recoup.webhook_secrets s set ends_at = recoup.clock() + h.keep_ms * interval '1 millisecond'
  from held h where s.endpoint_id = h.id and s.ends_at is null
  returning s.endpoint_id, s.number),
made as (
  insert into recoup.webhook_secrets (endpoint_id, number, value, made_at)
  select k.endpoint_id, k.number + 1, decode(h.secret, 'base64'), recoup.clock() from kept k join held h on h.id = k.endpoint_id
  returning number)
select json_build_array(json_build_object('outcome', case when not exists (select from held) then 'no_endpoint'
  when exists (select from made) then 'rotated' else 'again' end))::text as answer`,
);

const removing = { endpoint_id: 'text' } as const satisfies Columns;

/** Guard: it is there. It goes with its secrets and all of its deliveries. */
export const removeEndpoint = statement<typeof removing, EndpointOutcome>(
  'webhook.remove',
  removing,
  () => `
gone as (delete from recoup.webhook_endpoints e using input i where e.id = i.endpoint_id returning e.id),
unkeyed as (delete from recoup.webhook_secrets s using input i where s.endpoint_id = i.endpoint_id),
unsent as (delete from recoup.webhook_deliveries d using input i where d.endpoint_id = i.endpoint_id)
select json_build_array(json_build_object('outcome', case when exists (select from gone) then 'removed' else 'duplicate' end))::text as answer`,
);
