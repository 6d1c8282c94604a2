-- Epochs: which run of the ledger a position in the feed belongs to. A restore or a failover may lose acknowledged changes and
-- use transaction ids again; from the next epoch on, positions are higher than any that was ever handed out.

-- Which server this is: the cluster's identity and its timeline, which a recovery and a promotion raise. Null where it may not
-- be asked. A stopped cluster's files that are copied back keep both.
create function recoup.server_id() returns text
  language plpgsql stable
  as $$ begin
    return (select c.system_identifier from pg_catalog.pg_control_system() c)
      || '/' || pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8);
  exception when others then return null;
  end $$;

-- A position is epoch * 2^48 + transaction id: it stands in `tx` of entries and attempts, whose default is moved with the epoch.
create table recoup.epochs (
  number int not null,
  id text collate "C" not null default pg_catalog.gen_random_uuid()::text,
  opened_at timestamptz not null default recoup.clock(),
  reason text not null,
  actor text,
  server text default recoup.server_id(),
  -- Where readers of older cursors go on at the latest; null: where they were.
  reread_from xid8,
  constraint epochs_pkey primary key (number),
  constraint epochs_number check (number between 0 and 32767)
);
insert into recoup.epochs (number, reason) values (0, 'created');

create or replace function recoup.refuse_rewrite() returns trigger
  language plpgsql
  as $$ begin
    raise exception '% are append-only: % is refused', tg_table_name, tg_op using errcode = 'restrict_violation';
  end $$;
create trigger epochs_append_only before update or delete or truncate on recoup.epochs
  for each statement execute function recoup.refuse_rewrite();
alter table recoup.epochs enable always trigger epochs_append_only;
