// Reads of endpoints and deliveries: lists, one delivery, and which endpoints have something to send.

import { type Columns, statement } from '../db/statement.ts';

export interface EndpointRow {
  endpoint: string;
  url: string;
  kinds: string[];
  status: 'on' | 'off' | 'gone';
  lowBalance: number | null;
  registeredAt: string;
  lookedAt: string;
  pending: number;
  dead: number;
  oldestDueMs: number | null;
}

/** Counted up to so many. */
export const COUNTED = 10_000;

const listing = { endpoint_id: 'text' } as const satisfies Columns;

/** All endpoints, or one, with what is to be sent and what is dead. */
export const listEndpoints = statement<typeof listing, EndpointRow>(
  'webhook.endpoints',
  listing,
  () => `
found as materialized (
  select e.* from input i join recoup.webhook_endpoints e on i.endpoint_id is null or e.id = i.endpoint_id)
select coalesce(json_agg(json_build_object('endpoint', e.id, 'url', e.url, 'kinds', e.kinds, 'status', e.status, 'lowBalance', e.low_balance,
  'registeredAt', e.registered_at, 'lookedAt', e.looked_at,
  'pending', (select count(*) from (select from recoup.webhook_deliveries d where d.endpoint_id = e.id and d.due_at is not null limit ${COUNTED}) n),
  'dead', (select count(*) from (select from recoup.webhook_deliveries d where d.endpoint_id = e.id and d.state = 'dead' limit ${COUNTED}) n),
  'oldestDueMs', (select floor(extract(epoch from recoup.clock() - d.due_at) * 1000)::bigint from recoup.webhook_deliveries d
    where d.endpoint_id = e.id and d.due_at <= recoup.clock() order by d.due_at limit 1)) order by e.id), '[]')::text as answer
from found e`,
);

export interface DeliveryRow {
  delivery: string;
  endpoint: string;
  kind: string;
  state: 'pending' | 'delivered' | 'dead';
  happenedAt: string;
  dueAt: string | null;
  attempt: number;
  tries: number;
  lastAt: string | null;
  lastStatus: number | null;
  lastError: string | null;
  endedAt: string | null;
  payload: unknown;
}

const delivery = `json_build_object('delivery', d.id, 'endpoint', d.endpoint_id, 'kind', d.kind, 'state', d.state, 'happenedAt', d.happened_at,
  'dueAt', d.due_at, 'attempt', d.attempt, 'tries', d.tries, 'lastAt', d.last_at, 'lastStatus', d.last_status, 'lastError', d.last_error,
  'endedAt', d.ended_at, 'payload', d.payload)`;

const finding = {
  endpoint_id: 'text',
  state: 'text',
  after_at: 'timestamptz',
  after_id: 'text',
  count: 'int',
} as const satisfies Columns;

const page = (so: string, order: string) => `
    (select d.happened_at, d.id from recoup.webhook_deliveries d
     where d.endpoint_id = i.endpoint_id and ${so} and (d.happened_at, d.id) < (coalesce(i.after_at, 'infinity'), coalesce(i.after_id, ''))
     order by ${order} d.happened_at desc, d.id desc limit i.count)`;

/** Newest first. The keys alone are read along an index for either question, and then each row by its key: whatever the statistics say. */
export const listDeliveries = statement<typeof finding, DeliveryRow>(
  'webhook.deliveries',
  finding,
  () => `
looked as materialized (
  select d.* from input i cross join lateral (${page('i.state is null', 'd.endpoint_id desc,')}
    union all${page('d.state = i.state', 'd.endpoint_id desc, d.state desc,')}) d),
found as materialized (
  select d.* from looked l cross join lateral (select * from recoup.webhook_deliveries where id = l.id limit 1) d)
select coalesce(json_agg(${delivery} order by d.happened_at desc, d.id desc), '[]')::text as answer from found d`,
);

export const getDelivery = statement<{ readonly id: 'text' }, DeliveryRow>(
  'webhook.delivery',
  { id: 'text' },
  () => `
found as materialized (select d.* from input i join recoup.webhook_deliveries d on d.id = i.id)
select coalesce(json_agg(${delivery}), '[]')::text as answer from found d`,
);

export const endpointsOn = statement<{ readonly of: 'text' }, { endpoint: string; due: boolean }>(
  'webhook.on',
  { of: 'text' },
  () => `
found as materialized (
  select e.id, exists (select from recoup.webhook_deliveries d where d.endpoint_id = e.id and d.due_at <= recoup.clock()) as due
  from recoup.webhook_endpoints e where e.status = 'on')
select coalesce(json_agg(json_build_object('endpoint', id, 'due', due) order by id), '[]')::text as answer from found`,
);
