-- Credit with terms: grants that expire, and the order in which credit is used.

-- The terms of a grant, beside its entry. A grant without a row has none: it is used in its turn and never expires.
create table recoup.grants (
  wallet_id text collate "C" not null,
  seq bigint not null,
  -- What is used first: 0, then 1, …
  priority smallint not null default 5,
  expires_at timestamptz,
  constraint grants_pkey primary key (wallet_id, seq),
  constraint grants_priority check (priority between 0 and 9),
  constraint grants_terms check (priority <> 5 or expires_at is not null)
);
create trigger grants_append_only before update or delete or truncate on recoup.grants
  for each statement execute function recoup.refuse_rewrite();
alter table recoup.grants enable always trigger grants_append_only;
revoke update, delete, truncate on recoup.grants from current_user;

-- Entries that are about a grant: which one. Apart from the entries, so that those of jobs carry nothing of it.
create table recoup.grant_entries (
  wallet_id text collate "C" not null,
  seq bigint not null,
  of_seq bigint not null,
  constraint grant_entries_pkey primary key (wallet_id, seq),
  constraint grant_entries_of_seq check (of_seq < seq)
);
create trigger grant_entries_append_only before update or delete or truncate on recoup.grant_entries
  for each statement execute function recoup.refuse_rewrite();
alter table recoup.grant_entries enable always trigger grant_entries_append_only;
revoke update, delete, truncate on recoup.grant_entries from current_user;
