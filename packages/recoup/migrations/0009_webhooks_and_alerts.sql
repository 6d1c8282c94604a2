-- Events out: who is told of what happens, what was delivered, and which conditions hold.

-- Where the events of blocks stand in the order of the feed. What was there before stands before all of it: nobody is told of that.
alter table recoup.block_events add column tx xid8 not null default '0';
create index block_events_feed on recoup.block_events (tx);

-- A condition that somebody should know of, from when it was found true until it was found true no more.
create table recoup.alerts (
  kind text collate "C" not null,
  subject text collate "C" not null,
  -- Which time this is. Who looked before another replica fired and ended it finds the number taken, and fires nothing.
  number int not null,
  fired_at timestamptz not null,
  facts jsonb not null,
  recovered_at timestamptz,
  constraint alerts_pkey primary key (kind, subject, number),
  constraint alerts_kind check (kind in ('exhausted', 'near_exhausted', 'snapshot_exhausted', 'idle', 'blocked_long')),
  constraint alerts_number check (number >= 1),
  constraint alerts_recovered_at check (recovered_at >= fired_at)
) with (fillfactor = 70);
create unique index alerts_firing on recoup.alerts (kind, subject) where recovered_at is null;
create index alerts_fired on recoup.alerts (fired_at);

create table recoup.alert_events (
  kind text collate "C" not null,
  subject text collate "C" not null,
  number int not null,
  type text not null,
  at timestamptz not null,
  tx xid8 not null default '0',
  constraint alert_events_pkey primary key (kind, subject, number, type),
  constraint alert_events_type check (type in ('firing', 'recovered'))
);
create index alert_events_feed on recoup.alert_events (tx);
create trigger alert_events_append_only before update or delete or truncate on recoup.alert_events
  for each statement execute function recoup.refuse_rewrite();
alter table recoup.alert_events enable always trigger alert_events_append_only;

-- Positions of the epoch that entries have now.
do $$
  declare position_now text := (select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d
    join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
    where d.adrelid = 'recoup.entries'::regclass and a.attname = 'tx');
  begin
    execute 'alter table recoup.block_events alter column tx set default ' || position_now;
    execute 'alter table recoup.alert_events alter column tx set default ' || position_now;
  end $$;

-- Where events are sent.
create table recoup.webhook_endpoints (
  id text collate "C" constraint webhook_endpoints_pkey primary key,
  url text not null,
  kinds text[] not null,
  -- `gone`: it answered 410.
  status text not null default 'on',
  -- `wallet.low` is a balance that falls below it.
  low_balance bigint,
  -- All events before it were looked at; and the epoch it was written under.
  position xid8 not null,
  epoch int not null,
  looked_at timestamptz not null,
  registered_at timestamptz not null,
  constraint webhook_endpoints_kinds check (cardinality(kinds) between 1 and 11 and kinds <@ array['job.succeeded', 'job.reclaimed', 'job.dead',
    'wallet.low', 'wallet.debt', 'upstream.blocked', 'upstream.freed', 'inbox.opened', 'inbox.closed', 'alert.firing', 'alert.recovered']),
  constraint webhook_endpoints_status check (status in ('on', 'off', 'gone')),
  constraint webhook_endpoints_low_balance check (low_balance between -9007199254740991 and 9007199254740991),
  constraint webhook_endpoints_low check (low_balance is not null or not 'wallet.low' = any (kinds))
) with (fillfactor = 50);

-- What signs deliveries, apart from what lists read. After a rotation the one before signs too, for a while.
create table recoup.webhook_secrets (
  endpoint_id text collate "C" not null,
  number int not null,
  value bytea not null,
  made_at timestamptz not null,
  ends_at timestamptz,
  constraint webhook_secrets_pkey primary key (endpoint_id, number),
  constraint webhook_secrets_value check (octet_length(value) between 24 and 64)
);

-- The `webhook-id` of an event at an endpoint: the same each time it is sent.
create function recoup.webhook_id(endpoint_id text, event text) returns text
  language sql immutable parallel safe
  as $$ select 'msg_' || substr(encode(sha256(convert_to(endpoint_id || chr(31) || event, 'UTF8')), 'hex'), 1, 40) $$;

-- One event at one endpoint, until it is delivered or dead, and for a while after that.
create table recoup.webhook_deliveries (
  id text collate "C" constraint webhook_deliveries_pkey primary key,
  endpoint_id text collate "C" not null,
  -- What it tells of: kind and key of the row, and its position, so that a number that is used again after a restore is another event.
  event text collate "C" not null,
  kind text not null,
  happened_at timestamptz not null,
  -- The body. Ids, codes and amounts: no free text, which would have to be erased here too.
  payload jsonb not null,
  state text collate "C" not null default 'pending',
  -- When it is sent, or sent again where its sender is lost.
  due_at timestamptz,
  -- How often it was sent: the fencing token, never used again. And how often since it was last replayed.
  attempt int not null default 0,
  tries int not null default 0,
  last_at timestamptz,
  last_status int,
  last_error text,
  ended_at timestamptz,
  -- So that the id says it: one delivery per event and endpoint.
  constraint webhook_deliveries_id check (id = recoup.webhook_id(endpoint_id, event)),
  constraint webhook_deliveries_state check (state in ('pending', 'delivered', 'dead')),
  constraint webhook_deliveries_due_at check ((state = 'pending') = (due_at is not null)),
  constraint webhook_deliveries_ended_at check ((state = 'pending') = (ended_at is null)),
  constraint webhook_deliveries_tries check (tries between 0 and attempt)
) with (fillfactor = 70);
create index webhook_deliveries_due on recoup.webhook_deliveries (endpoint_id, due_at) where due_at is not null;
create index webhook_deliveries_of on recoup.webhook_deliveries (endpoint_id, happened_at, id);
create index webhook_deliveries_of_state on recoup.webhook_deliveries (endpoint_id, state, happened_at, id);
create index webhook_deliveries_delivered_at on recoup.webhook_deliveries (ended_at) where state = 'delivered';
create index webhook_deliveries_dead_at on recoup.webhook_deliveries (ended_at) where state = 'dead';

-- Of which credential a use is: what it says of that is old when there is another, whenever the change was committed.
alter table recoup.upstream_leases add column credential_at timestamptz;
