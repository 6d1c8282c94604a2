-- Work joined to capacity: a queue may name the pool whose upstreams its jobs run on.

-- Null: its jobs are leased without an upstream. Older code leases them so in any case.
alter table recoup.queues add column pool text collate "C";
-- How often a job may go back to its place for trouble of its upstream that the job may have caused itself; after that it is a failure.
alter table recoup.queues add column max_upstream_errors int not null default 3
  constraint queues_max_upstream_errors check (max_upstream_errors between 0 and 1000000);

alter table recoup.jobs add column upstream_errors int not null default 0
  constraint jobs_upstream_errors check (upstream_errors >= 0);
-- The place in its queue from which it was leased with an upstream: where that one fails it, it goes back there.
alter table recoup.jobs add column ready_at timestamptz;
