-- Answers: what providers say of their windows, what happened to upstreams themselves, which key stays with which; and who cares.

alter table recoup.upstreams
  -- How many events it has.
  add column events int not null default 0,
  -- Since when its credential is this one: what a request of before says of the credential is old.
  add column credential_at timestamptz;

-- Since when something speaks against a block that only a person ends.
alter table recoup.blocks
  add column contradicted_at timestamptz,
  add constraint blocks_contradicted check (contradicted_at is null or policy = 'manual');
-- What needs a person.
create index blocks_inbox on recoup.blocks (id) where closed_at is null and policy = 'manual';

-- Who changed what of an upstream, when and why: one row per change, each with all settings as it left them.
create table recoup.upstream_events (
  upstream_id text collate "C" not null,
  number int not null,
  type text not null,
  at timestamptz not null,
  settings jsonb not null,
  actor text,
  reason text,
  constraint upstream_events_pkey primary key (upstream_id, number),
  constraint upstream_events_type check (type in ('registered', 'changed', 'credential'))
);
insert into recoup.upstream_events (upstream_id, number, type, at, settings, reason)
  select id, 1, 'registered', registered_at, jsonb_build_object('quotaGroup', quota_group, 'route', route, 'credentialRef', credential_ref,
    'priority', priority, 'weight', weight, 'maxConcurrency', max_concurrency, 'status', status), 'as it stood when events began'
  from recoup.upstreams;
update recoup.upstreams set events = 1;
create trigger upstream_events_append_only before update or delete or truncate on recoup.upstream_events
  for each statement execute function recoup.refuse_rewrite();
alter table recoup.upstream_events enable always trigger upstream_events_append_only;

-- The latest that was observed of each window of a provider's own quotas.
create table recoup.snapshots (
  subject_type text collate "C" not null,
  subject_id text collate "C" not null,
  -- As a block's: only blocks of just this scope are concerned.
  scope text collate "C" not null default '',
  name text collate "C" not null,
  kind text not null,
  length_ms bigint,
  -- As a fraction: 1 is all of it, and it may be more.
  used double precision,
  resets_at timestamptz,
  exhausted boolean not null,
  observed_at timestamptz not null,
  constraint snapshots_pkey primary key (subject_type, subject_id, scope, name),
  constraint snapshots_subject check (subject_type in ('upstream', 'quota_group')),
  constraint snapshots_scope check (scope = '' or scope ~ '^(model|capability):.'),
  constraint snapshots_kind check (kind in ('short', 'daily', 'weekly', 'monthly', 'other', 'unknown')),
  constraint snapshots_length check (length_ms > 0),
  constraint snapshots_used check (used >= 0)
) with (fillfactor = 70);

-- Which upstream a caller's key had last: it has that one again while it is usable.
create table recoup.affinities (
  pool text collate "C" not null,
  key text collate "C" not null,
  upstream_id text collate "C" not null,
  until timestamptz not null,
  constraint affinities_pkey primary key (pool, key)
) with (fillfactor = 70);
create index affinities_until on recoup.affinities (until);

-- Who cares about what needs a person: taken, put off, remarked. What needs one is in the tables that say so.
create table recoup.inbox_notes (
  -- `block:` and its id.
  item text collate "C" not null,
  number int not null,
  type text not null,
  at timestamptz not null,
  actor text not null,
  until timestamptz,
  note text,
  -- A caller's, so that what he says again is there once.
  key text collate "C",
  constraint inbox_notes_pkey primary key (item, number),
  constraint inbox_notes_number check (number >= 1),
  constraint inbox_notes_type check (type in ('taken', 'snoozed', 'noted')),
  constraint inbox_notes_until check (until is null or type = 'snoozed'),
  constraint inbox_notes_said check (note is not null or type <> 'noted')
);
create unique index inbox_notes_key on recoup.inbox_notes (item, key) where key is not null;
create trigger inbox_notes_append_only before update or delete or truncate on recoup.inbox_notes
  for each statement execute function recoup.refuse_rewrite();
alter table recoup.inbox_notes enable always trigger inbox_notes_append_only;
