-- Trials of one scope are counted among uses of that scope; upstreams that are nearly used up come after the others.

-- What a use is for: everything (the empty scope), its model and capabilities. A block lets in so many uses of its own scope.
alter table recoup.upstream_leases add column scopes text[] not null default array[''];

-- How long an upstream of which a provider says that little is left is given only where the others of its priority are out. For speed and order, not
-- a rule: nobody is refused by it.
alter table recoup.upstreams add column tight_until timestamptz;
drop index recoup.upstreams_free;
create index upstreams_free on recoup.upstreams (pool, priority, turn_at) where status = 'on' and blocked_until is null and quota_until is null and tight_until is null;
create index upstreams_tight on recoup.upstreams (pool, priority, tight_until) where status = 'on' and blocked_until is null and quota_until is null and tight_until is not null;

-- What was closed since an instant: a failure of a request of before says nothing new.
drop index recoup.blocks_history;
create index blocks_closed on recoup.blocks (subject_type, subject_id, closed_at) where closed_at is not null;
