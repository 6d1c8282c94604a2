-- Capacity: upstreams (accounts at providers), the blocks that take them out, the leases that use them.

create table recoup.upstreams (
  id text collate "C" constraint upstreams_pkey primary key,
  pool text collate "C" not null,
  provider text collate "C" not null,
  -- What shares a quota at the provider (a project, an organization), and the way there (a proxy, an egress address).
  quota_group text collate "C",
  route text collate "C" not null default 'direct',
  -- Where the credential is kept. Never the secret.
  credential_ref text,
  status text not null default 'on',
  priority smallint not null default 5,
  weight int not null default 1,
  max_concurrency int,
  -- Moves with each change of its own blocks, so that who waited for the row sees that what he read before is old.
  generation bigint not null default 0,
  -- Whose turn it is among equals: the clock, or later by 1/weight seconds per selection.
  turn_at timestamptz not null,
  used_at timestamptz,
  -- The latest end of its own blocks that concern everything; infinity: a person has to act. For speed: blocks decide.
  blocked_until timestamptz,
  registered_at timestamptz not null,
  constraint upstreams_status check (status in ('on', 'off', 'draining', 'retired')),
  constraint upstreams_priority check (priority between 0 and 9),
  constraint upstreams_weight check (weight between 1 and 1000),
  constraint upstreams_max_concurrency check (max_concurrency between 1 and 1000000)
) with (fillfactor = 70);
create index upstreams_free on recoup.upstreams (pool, priority, turn_at) where status = 'on' and blocked_until is null;
create index upstreams_due on recoup.upstreams (pool, priority, blocked_until) where status = 'on' and blocked_until is not null;

-- One reason why a subject may not be used. Open until evidence, a person or its age closes it; past `until` it is half open:
-- it lets `trials` uses in at once, doubled by each success, until it closes.
create table recoup.blocks (
  id bigint generated always as identity constraint blocks_pkey primary key,
  subject_type text not null,
  subject_id text collate "C" not null,
  -- Empty: everything. Else `model:…` or `capability:…`.
  scope text collate "C" not null default '',
  kind text not null,
  source text not null,
  policy text not null,
  opened_at timestamptz not null,
  -- When the request started that last failed for this reason: only a later one's success speaks against it.
  evidence_at timestamptz not null,
  until timestamptz,
  step int not null default 1,
  trials int not null default 1,
  generation int not null default 1,
  reason text,
  next_step text,
  closed_at timestamptz,
  closed_as text,
  constraint blocks_subject check (subject_type in ('upstream', 'quota_group', 'provider', 'route')),
  constraint blocks_scope check (scope = '' or scope ~ '^(model|capability):.'),
  constraint blocks_source check (source in ('retry_after', 'reset_announced', 'backoff', 'operator')),
  constraint blocks_policy check (policy in ('auto', 'manual', 'snapshot', 'rolling')),
  -- Only a person ends a manual block: time never does.
  constraint blocks_until check ((policy = 'manual') = (until is null)),
  constraint blocks_step check (step >= 1),
  constraint blocks_trials check (trials in (1, 2, 4, 8)),
  constraint blocks_closed check ((closed_at is null) = (closed_as is null)),
  constraint blocks_closed_as check (closed_as in ('success', 'snapshot', 'operator', 'credential', 'probe', 'time', 'superseded', 'retired')),
  constraint blocks_manual check (policy <> 'manual' or closed_as is null or closed_as in ('operator', 'credential', 'superseded', 'retired'))
);
create unique index blocks_open on recoup.blocks (subject_type, subject_id, scope, kind, source) where closed_at is null;
create index blocks_history on recoup.blocks (subject_type, subject_id, opened_at);
create index blocks_due on recoup.blocks (until) where closed_at is null and until is not null;

-- Who blocked and who freed it, when, on what evidence: one row per generation of a block.
create table recoup.block_events (
  block_id bigint not null,
  generation int not null,
  type text not null,
  at timestamptz not null,
  until timestamptz,
  step int not null,
  evidence_at timestamptz not null,
  actor text,
  reason text,
  constraint block_events_pkey primary key (block_id, generation),
  constraint block_events_type check (type in ('opened', 'extended', 'reopened', 'trial', 'closed'))
);
create trigger block_events_append_only before update or delete or truncate on recoup.block_events
  for each statement execute function recoup.refuse_rewrite();
alter table recoup.block_events enable always trigger block_events_append_only;

-- A slot of an upstream in somebody's hands, until it is given back or its time is up.
create table recoup.upstream_leases (
  id text collate "C" constraint upstream_leases_pkey primary key,
  upstream_id text collate "C" not null,
  quota_group text collate "C",
  provider text collate "C" not null,
  route text collate "C" not null,
  holder text,
  leased_at timestamptz not null,
  lease_until timestamptz not null,
  constraint upstream_leases_until check (lease_until > leased_at)
);
create index upstream_leases_of on recoup.upstream_leases (upstream_id, leased_at);
create index upstream_leases_since on recoup.upstream_leases (leased_at);
create index upstream_leases_lapse on recoup.upstream_leases (lease_until);
