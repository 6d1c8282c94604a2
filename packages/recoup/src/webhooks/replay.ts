// webhook.replay and webhook.test: what ended is sent again, with the same id; and something is sent for a try.

import { type Columns, statement } from '../db/statement.ts';
import { TEST_KIND } from './kinds.ts';

const replaying = {
  endpoint_id: 'text',
  id: 'text',
  since: 'timestamptz',
  dead: 'boolean',
  after_at: 'timestamptz',
  after_id: 'text',
  count: 'int',
} as const satisfies Columns;

export interface ReplayedRow {
  replayed: number;
  seen: number;
  last: { at: string; id: string } | null;
}

/** Those of the endpoint that are `so`, behind the last of the page before, oldest first; held. Each way of naming them has its own index. */
const held = (name: string, way: string, so: string, order: string) => `
${name} as (
  select d.* from input i cross join lateral (
    select id, happened_at from recoup.webhook_deliveries d
    where ${way} and d.endpoint_id = i.endpoint_id and ${so}
      and (d.happened_at, d.id) > (coalesce(i.after_at, i.since, '-infinity'), coalesce(i.after_id, ''))
    order by ${order}d.happened_at, d.id limit i.count for no key update) d)`;

/** Guard: delivered or dead, of the endpoint. Due at once, its tries counted anew; attempt numbers go on. Page by page, oldest first. */
export const replayDeliveries = statement<typeof replaying, ReplayedRow>(
  'webhook.replay',
  replaying,
  () => `
one as (
  select d.* from input i cross join lateral (
    select id, happened_at from recoup.webhook_deliveries d
    where d.id = i.id and d.endpoint_id = i.endpoint_id and d.state <> 'pending' for no key update) d),${held(
      'dead',
      'i.dead',
      `d.state = 'dead'`,
      'd.endpoint_id, d.state, ',
    )},${held('every', 'i.id is null and not i.dead', `d.state <> 'pending'`, 'd.endpoint_id, ')},
held as materialized (select * from one union all select * from dead union all select * from every),
won as (
  update recoup.webhook_deliveries d set state = 'pending', due_at = recoup.clock(), tries = 0, ended_at = null
  from held h where d.id = h.id
  returning d.id)
select json_build_array(json_build_object('replayed', (select count(*) from won), 'seen', (select count(*) from held),
  'last', (select json_build_object('at', happened_at, 'id', id) from held order by happened_at desc, id desc limit 1)))::text as answer`,
);

const testing = { endpoint_id: 'text', key: 'text' } as const satisfies Columns;

export interface TestRow {
  outcome: string;
  id: string | null;
}

/** Guard: the endpoint is there; none with this key. Sent as any delivery is, by whoever is first. */
export const sendTest = statement<typeof testing, TestRow>(
  'webhook.test',
  testing,
  () => `
found as materialized (
  select e.id as endpoint_id, t.event, recoup.webhook_id(e.id, t.event) as id from input i
  join recoup.webhook_endpoints e on e.id = i.endpoint_id
  cross join lateral (select jsonb_build_array('${TEST_KIND}', i.key)::text as event) t),
made as (
  insert into recoup.webhook_deliveries (id, endpoint_id, event, kind, happened_at, payload, due_at)
  select id, endpoint_id, event, '${TEST_KIND}', recoup.clock(), jsonb_build_object('type', '${TEST_KIND}',
    'timestamp', to_char(recoup.clock() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'data', jsonb_build_object('endpoint', endpoint_id)), recoup.clock()
  from found
  on conflict (id) do nothing
  returning id)
select json_build_array(json_build_object('id', (select id from found), 'outcome', case when not exists (select from found) then 'no_endpoint'
  when exists (select from made) then 'sent' else 'duplicate' end))::text as answer`,
);
