// webhook.dispatch: makes deliveries of what was appended since an endpoint was last looked at, and moves its position with them.

import { behind } from '../db/epochs.ts';
import { type Columns, statement } from '../db/statement.ts';
import { SOURCES } from './kinds.ts';
import { horizon } from './rules.ts';

const columns = { endpoint_id: 'text', count: 'int' } as const satisfies Columns;

export interface DispatchRow {
  /** How many deliveries it made. */
  made: number;
  /** Whether there may be more. */
  more: boolean;
}

type Source = keyof typeof SOURCES;

/** Whether the endpoint `e` wants any kind that the table tells of: else it is not read. */
const wants = (e: string, source: Source) =>
  `${e}.kinds && array[${SOURCES[source].map((kind) => `'${kind}'`).join(', ')}]`;

const scan = (source: Source) => `
    (select tx from recoup.${source} where ${wants('h', source)} and tx >= h.low and tx < h.high order by tx limit h.count)`;

const rows = (source: Source) =>
  `page p join recoup.${source} s on s.tx >= p.low and s.tx < p.upto and ${wants('p', source)}`;

const at = (instant: string) => `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const FROM_ATTEMPTS = `
  select k.kind, s.ended_at as at, jsonb_build_array(s.wallet_id, s.job_id, s.attempt, s.ended_as, s.tx::text) as row,
    jsonb_build_object('wallet', s.wallet_id, 'customer', w.customer_id, 'job', s.job_id, 'attempt', s.attempt, 'endedAs', s.ended_as,
      'verdict', s.verdict) as data
  from ${rows('attempts')}
  cross join lateral (
    select case when s.ended_as = 'succeeded' then 'job.succeeded' when s.job_state = 'dead' then 'job.dead' end as kind) k
  join recoup.wallets w on w.id = s.wallet_id
  where k.kind = any (p.kinds)`;

// A balance falls below a line with the one entry that takes it over: so many entries as follow, it is told once.
const FROM_ENTRIES = `
  select k.kind, s.created_at, jsonb_build_array(s.wallet_id, s.seq, s.tx::text),
    jsonb_build_object('wallet', s.wallet_id, 'customer', w.customer_id, 'unit', w.unit, 'seq', s.seq, 'type', s.type, 'amount', s.amount,
      'balance', s.balance, 'job', s.job_id) || k.more
  from ${rows('entries')}
  cross join lateral (values
    ('job.reclaimed', s.type = 'reclaim', '{}'::jsonb),
    ('wallet.low', s.balance < p.low_balance and s.balance - s.amount >= p.low_balance, jsonb_build_object('below', p.low_balance)),
    ('wallet.debt', s.balance < 0 and s.balance - s.amount >= 0, '{}'::jsonb)) k (kind, holds, more)
  join recoup.wallets w on w.id = s.wallet_id
  where k.holds and k.kind = any (p.kinds)`;

// A block without an end is one that a person ends, and so an item of the inbox: from the event on that took its end away, behind which comes its close.
const FROM_BLOCKS = `
  select k.kind, s.at, jsonb_build_array(s.block_id, s.generation, s.tx::text),
    jsonb_build_object('block', s.block_id, 'subject', b.subject_type || ':' || b.subject_id, 'scope', b.scope, 'kind', b.kind, 'source', b.source) || k.more
  from ${rows('block_events')}
  join recoup.blocks b on b.id = s.block_id
  cross join lateral (values
    ('upstream.blocked', s.type = 'opened', jsonb_build_object('until', ${at('s.until')})),
    ('upstream.freed', s.type = 'closed', jsonb_build_object('closedAs', b.closed_as)),
    ('inbox.opened', s.type <> 'closed' and s.until is null, jsonb_build_object('item', 'block:' || s.block_id)),
    ('inbox.closed', s.type = 'closed' and s.until is null,
      jsonb_build_object('item', 'block:' || s.block_id, 'closedAs', b.closed_as))) k (kind, holds, more)
  where k.holds and k.kind = any (p.kinds)`;

const FROM_ALERTS = `
  select k.kind, s.at, jsonb_build_array(s.kind, s.subject, s.number, s.tx::text),
    jsonb_build_object('alert', s.kind, 'subject', s.subject, 'number', s.number, 'firedAt', ${at('a.fired_at')}, 'facts', a.facts)
  from ${rows('alert_events')}
  join recoup.alerts a on a.kind = s.kind and a.subject = s.subject and a.number = s.number
  cross join lateral (select 'alert.' || s.type as kind) k
  where k.kind = any (p.kinds)`;

/**
 * Guard: the endpoint is on and nobody else looks for it now. What lies below the horizon is final (see feed/cursors.ts), so a page of it is
 * read whole: up to the last position of `count` rows, which never parts a transaction. Deliveries and position move in one commit; what is read
 * again, as after a new epoch, finds its delivery there. An endpoint for which nothing happened is written once a minute.
 */
export const dispatchEvents = statement<typeof columns, DispatchRow>(
  'webhook.dispatch',
  columns,
  () => `
newest as materialized (select e.number, ${behind('e.number')} as behind from recoup.epochs e order by e.number desc limit 1),
held as materialized (
  select i.count, e.*, n.number, ${horizon('n.number')} as high,
    least(e.position, (select x.reread_from from recoup.epochs x where x.number > e.epoch order by x.reread_from limit 1)) as low
  from input i cross join newest n
  cross join lateral (
    select id, kinds, low_balance, position, epoch from recoup.webhook_endpoints
    where id = i.endpoint_id and status = 'on' for no key update skip locked) e
  where not n.behind),
scanned as materialized (
  select s.tx from held h cross join lateral (${(Object.keys(SOURCES) as Source[]).map(scan).join('\n    union all')}) s
  order by s.tx limit (select count from input)),
page as materialized (
  select h.*, s.n, case when s.n < h.count then h.high
    else ((select tx from scanned order by tx desc limit 1)::text::bigint + 1)::text::xid8 end as upto
  from held h cross join (select count(*) as n from scanned) s),
told as (${[FROM_ATTEMPTS, FROM_ENTRIES, FROM_BLOCKS, FROM_ALERTS].join('\n  union all')}),
made as (
  insert into recoup.webhook_deliveries (id, endpoint_id, event, kind, happened_at, payload, due_at)
  select recoup.webhook_id(p.id, e.event), p.id, e.event, t.kind, t.at,
    jsonb_build_object('type', t.kind, 'timestamp', ${at('t.at')}, 'data', t.data), recoup.clock()
  from told t cross join page p cross join lateral (select jsonb_build_array(t.kind, t.row)::text as event) e
  on conflict (id) do nothing
  returning id),
moved as (
  update recoup.webhook_endpoints e set position = p.upto, epoch = p.number, looked_at = recoup.clock()
  from page p where e.id = p.id and p.upto > p.low and (p.n > 0 or e.looked_at < recoup.clock() - interval '1 minute'))
select json_build_array(json_build_object('made', (select count(*) from made),
  'more', coalesce((select n = count from page), false)))::text as answer`,
);
