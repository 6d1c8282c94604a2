-- Money and work: wallets, entries, queues, jobs, attempts. The constraints are the promises.

-- The only clock. Tests of time replace this function in their own database; nothing in production can set it.
create function recoup.clock() returns timestamptz
  language sql stable parallel safe
  as 'select now()';

-- Capped exponential back-off with its jitter, in milliseconds. The one place of the formula:
-- nominal = min(base * 2^(failures-1), max), the exponent clamped before the power; the delay lies between half of it
-- and all of it, by a fraction derived from job and attempt, so that every replica and every test gets the same.
create function recoup.retry_delay_ms(base_ms bigint, max_ms bigint, failures int, wallet_id text, job_id text, attempt int)
  returns bigint
  language sql immutable parallel safe
  as $$
    -- nominal * (1/2 + fraction/2), rounded up; the fraction is f / (2^24 - 1), and all of it is done in integers
    select div(nominal * (16777215 + f) + 33554429, 33554430)::bigint
    from (select least(base_ms::numeric * power(2::numeric, least(greatest(failures - 1, 0), 40)), max_ms::numeric) as nominal,
                 ('x' || substr(md5(wallet_id || chr(31) || job_id || chr(31) || attempt::text), 1, 6))::bit(24)::int as f) n
  $$;

create table recoup.wallets (
  id text collate "C" constraint wallets_pkey primary key,
  customer_id text collate "C" not null,
  unit text collate "C" not null default 'credit',
  status text not null default 'active',
  balance bigint not null default 0,
  overdraft_limit bigint not null default 0,
  last_seq bigint not null default 0,
  last_entry_at timestamptz,
  next_expiry_at timestamptz,
  opened_at timestamptz not null default recoup.clock(),
  constraint wallets_status check (status in ('active', 'closed')),
  constraint wallets_balance check (balance between -9007199254740991 and 9007199254740991),
  constraint wallets_overdraft_limit check (overdraft_limit between 0 and 9007199254740991),
  constraint wallets_last_seq check (last_seq >= 0),
  constraint wallets_untouched check (last_seq > 0 or (balance = 0 and last_entry_at is null)),
  constraint wallets_touched check (last_seq = 0 or last_entry_at is not null)
) with (fillfactor = 70, autovacuum_analyze_threshold = 20000, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.05);
create index wallets_customer on recoup.wallets (customer_id);
create index wallets_expiry on recoup.wallets (next_expiry_at) where next_expiry_at is not null;

-- The ledger. Holds ids, codes and amounts only: free text lives in tables that can be erased (notes, jobs, attempts).
create table recoup.entries (
  wallet_id text collate "C" not null,
  seq bigint not null,
  type text not null,
  amount bigint not null,
  balance bigint not null,
  job_id text collate "C",
  key text collate "C",
  reason text,
  actor text,
  created_at timestamptz not null,
  tx xid8 not null default pg_current_xact_id(),
  constraint entries_pkey primary key (wallet_id, seq),
  constraint entries_seq check (seq >= 1),
  constraint entries_type check (type in ('grant', 'charge', 'refund', 'reclaim', 'settle', 'adjust', 'clawback', 'expire', 'restore')),
  constraint entries_amount check (amount between -9007199254740991 and 9007199254740991),
  constraint entries_balance check (balance between -9007199254740991 and 9007199254740991),
  constraint entries_first check (seq > 1 or balance = amount),
  constraint entries_sign check (case type
    when 'grant' then amount > 0
    when 'charge' then amount <= 0
    when 'refund' then amount >= 0
    when 'reclaim' then amount <= 0
    when 'settle' then true
    when 'adjust' then amount <> 0
    when 'clawback' then amount < 0
    when 'expire' then amount < 0
    when 'restore' then amount > 0 end),
  constraint entries_of_job check (type not in ('charge', 'refund', 'reclaim', 'settle') or (job_id is not null and key is null)),
  constraint entries_with_key check (type not in ('grant', 'adjust', 'clawback') or key is not null)
) with (autovacuum_analyze_threshold = 20000, autovacuum_vacuum_insert_threshold = 100000);
-- Once per job, for ever: also after the job's row is pruned.
create unique index entries_once_per_job on recoup.entries (wallet_id, job_id, type)
  where type in ('charge', 'refund', 'reclaim', 'settle');
create unique index entries_once_per_key on recoup.entries (wallet_id, key) where key is not null;
create index entries_about_job on recoup.entries (wallet_id, job_id) where type = 'adjust' and job_id is not null;
create index entries_feed on recoup.entries (tx);

-- Refuses what would rewrite history. Statement-level, so that it also refuses when no row would match.
create function recoup.refuse_rewrite() returns trigger
  language plpgsql
  as $$ begin
    raise exception 'entries are append-only: % is refused', tg_op using errcode = 'restrict_violation';
  end $$;
create trigger entries_append_only before update or delete or truncate on recoup.entries
  for each statement execute function recoup.refuse_rewrite();
-- ALWAYS: an ordinary trigger does not fire under session_replication_role = replica.
alter table recoup.entries enable always trigger entries_append_only;
revoke update, delete, truncate on recoup.entries from current_user;

-- Free text beside an entry. Can be erased; the amounts stay.
create table recoup.notes (
  wallet_id text collate "C" not null,
  seq bigint not null,
  note text not null,
  constraint notes_pkey primary key (wallet_id, seq)
);

-- The row '*' holds the settings of every queue that has no row of its own.
create table recoup.queues (
  id text collate "C" constraint queues_pkey primary key,
  refund_on text not null default 'failure',
  backoff_base_ms bigint not null default 5000,
  backoff_max_ms bigint not null default 300000,
  retry_after_max_ms bigint not null default 3600000,
  max_failures int not null default 5,
  max_releases int not null default 100,
  lease_ms bigint not null default 30000,
  paused boolean not null default false,
  constraint queues_refund_on check (refund_on in ('failure', 'final')),
  constraint queues_backoff check (backoff_base_ms between 0 and backoff_max_ms and backoff_max_ms <= 31536000000),
  constraint queues_retry_after check (retry_after_max_ms between 0 and 31536000000),
  constraint queues_max_failures check (max_failures between 1 and 1000000),
  constraint queues_max_releases check (max_releases between 0 and 1000000),
  constraint queues_lease check (lease_ms between 100 and 86400000)
);
insert into recoup.queues (id) values ('*');

create table recoup.jobs (
  wallet_id text collate "C" not null,
  id text collate "C" not null,
  queue text collate "C",
  state text not null,
  price bigint not null,
  priority smallint not null default 5,
  refund_on text not null default 'failure',
  max_failures int not null default 1,
  attempt int not null default 0,
  failures int not null default 0,
  releases int not null default 0,
  failed_attempt int,
  verdict text,
  not_before timestamptz,
  lease_until timestamptz,
  deadline_at timestamptz,
  worker text,
  upstream_id text collate "C",
  upstream_ref text collate "C",
  reason text,
  submitted_at timestamptz not null default recoup.clock(),
  started_at timestamptz,
  dead_at timestamptz,
  refunded_at timestamptz,
  succeeded_at timestamptz,
  succeeded_attempt int,
  reclaimed_at timestamptz,
  settled_at timestamptz,
  final_price bigint,
  canceled_at timestamptz,
  labels jsonb,
  payload jsonb,
  payload_bytes int not null default 0,
  result jsonb,
  constraint jobs_pkey primary key (wallet_id, id),
  constraint jobs_state check (state in ('queued', 'running', 'waiting', 'succeeded', 'dead', 'failed', 'canceled', 'discarded')),
  constraint jobs_price check (price between 0 and 9007199254740991),
  constraint jobs_final_price check (final_price between 0 and 9007199254740991),
  constraint jobs_priority check (priority between 0 and 9),
  constraint jobs_refund_on check (refund_on in ('failure', 'final')),
  constraint jobs_verdict check (verdict in ('definitive', 'presumed')),
  constraint jobs_counters check (attempt >= 0 and releases >= 0 and max_failures >= 1 and failures between 0 and attempt),
  constraint jobs_reclaimed check ((succeeded_at is not null and refunded_at is not null) = (reclaimed_at is not null)),
  constraint jobs_canceled_not_succeeded check (canceled_at is null or succeeded_at is null),
  constraint jobs_settled check ((settled_at is not null) = (final_price is not null)
    and (settled_at is null or succeeded_at is not null or canceled_at is not null)),
  constraint jobs_succeeded check ((state = 'succeeded') = (succeeded_at is not null)
    and (succeeded_at is not null) = (succeeded_attempt is not null)),
  constraint jobs_canceled check ((state = 'canceled') = (canceled_at is not null)),
  constraint jobs_ended_badly check (state not in ('dead', 'failed', 'canceled', 'discarded') or refunded_at is not null),
  constraint jobs_dead check ((state in ('dead', 'discarded')) = (dead_at is not null)),
  constraint jobs_running check ((state = 'running') = (lease_until is not null)),
  constraint jobs_waiting check (case when state = 'waiting' then queue is null or deadline_at is not null else deadline_at is null end),
  constraint jobs_failures check (state not in ('queued', 'running', 'waiting') or failures < max_failures),
  constraint jobs_queued check ((state = 'queued') = (not_before is not null)),
  constraint jobs_attempted check (state not in ('running', 'waiting') or attempt >= 1),
  constraint jobs_of_queue check (case when queue is null then state in ('waiting', 'succeeded', 'failed', 'canceled') else state <> 'failed' end)
) with (autovacuum_analyze_threshold = 20000, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.05);
create index jobs_ready on recoup.jobs (queue, priority, not_before) where state = 'queued';
create index jobs_lease_due on recoup.jobs (lease_until) where lease_until is not null;
create index jobs_deadline_due on recoup.jobs (deadline_at) where deadline_at is not null;
create index jobs_dead_letters on recoup.jobs (dead_at) where dead_at is not null;
create index jobs_finished on recoup.jobs ((coalesce(succeeded_at, canceled_at))) where state in ('succeeded', 'canceled');
create index jobs_held on recoup.jobs (wallet_id) include (price) where state in ('queued', 'running', 'waiting') and refunded_at is null;
create index jobs_at_risk on recoup.jobs (wallet_id) include (price)
  where refunded_at is not null and succeeded_at is null and canceled_at is null;
create index jobs_upstream_ref on recoup.jobs (upstream_ref) where upstream_ref is not null;

-- How attempts ended: written once, when it happens. What is known while one runs stands on the job's row.
-- An attempt can end twice in our knowledge: it lapsed, and later turned out to have succeeded, or to have failed for good.
create table recoup.attempts (
  wallet_id text collate "C" not null,
  job_id text collate "C" not null,
  attempt int not null,
  ended_as text not null,
  verdict text,
  job_state text not null,
  reason text,
  worker text,
  upstream_id text collate "C",
  upstream_ref text collate "C",
  started_at timestamptz,
  ended_at timestamptz not null,
  tx xid8 not null default pg_current_xact_id(),
  constraint attempts_pkey primary key (wallet_id, job_id, attempt, ended_as),
  constraint attempts_attempt check (attempt >= 0),
  constraint attempts_ended_as check (ended_as in ('failed', 'lapsed', 'confirmed', 'rejected', 'released', 'superseded', 'canceled', 'succeeded')),
  constraint attempts_verdict check ((verdict is not null) = (ended_as in ('failed', 'lapsed', 'confirmed', 'rejected'))
    and (verdict is null or verdict in ('definitive', 'presumed')))
) with (autovacuum_analyze_threshold = 20000, autovacuum_vacuum_insert_threshold = 100000);
create index attempts_feed on recoup.attempts (tx);
create index attempts_upstream_ref on recoup.attempts (upstream_ref) where upstream_ref is not null;

-- What each lease request was given, so that a lost answer can be asked for again.
create table recoup.lease_requests (
  queue text collate "C" not null,
  id text collate "C" not null,
  jobs jsonb not null,
  created_at timestamptz not null,
  constraint lease_requests_pkey primary key (queue, id)
);
create index lease_requests_old on recoup.lease_requests (created_at);
