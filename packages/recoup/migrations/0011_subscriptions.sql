-- Subscriptions: plans, at most one subscription of a customer that lives, its periods and what happened to it.

create table recoup.plans (
  id text collate "C" constraint plans_pkey primary key,
  -- What a period grants.
  credits bigint not null,
  every text not null,
  every_count int not null default 1,
  zone text not null default 'UTC',
  -- Whether each period has to be paid, or begins by itself.
  renews text not null default 'paid',
  -- Whether what is left of a period's credit expires with it.
  expires boolean not null default true,
  priority smallint not null default 5,
  -- How long after its end a period may still be paid.
  grace_ms bigint not null default 259200000,
  status text not null default 'on',
  constraint plans_credits check (credits between 1 and 9007199254740991),
  constraint plans_every check (every in ('day', 'week', 'month', 'year') and every_count between 1 and 366),
  constraint plans_renews check (renews in ('paid', 'itself')),
  constraint plans_priority check (priority between 0 and 9),
  constraint plans_grace check (grace_ms between 0 and 31536000000),
  constraint plans_status check (status in ('on', 'off'))
);

create table recoup.subscriptions (
  id text collate "C" constraint subscriptions_pkey primary key,
  customer_id text collate "C" not null,
  wallet_id text collate "C" not null,
  plan_id text collate "C" not null,
  -- The plan of the next period, where it is another one.
  next_plan_id text collate "C",
  status text not null,
  -- Where its periods are counted from: the start of period `anchor_period`, by the plan's length and zone as they were then.
  anchor_at timestamptz,
  anchor_period int,
  every text,
  every_count int,
  zone text,
  -- The newest period that was granted.
  period int,
  period_start timestamptz,
  period_end timestamptz,
  ends_with_period boolean not null default false,
  -- When it changes by itself; null: never again.
  due_at timestamptz,
  events int not null default 1,
  started_at timestamptz not null,
  ended_at timestamptz,
  constraint subscriptions_status check (status in ('pending', 'active', 'past_due', 'expired', 'revoked')),
  constraint subscriptions_due check ((due_at is not null) = (status in ('pending', 'active', 'past_due'))),
  constraint subscriptions_ended check ((ended_at is not null) = (status in ('expired', 'revoked'))),
  constraint subscriptions_period check (case when status in ('active', 'past_due') then period is not null else true end
    and (period is null) = (period_start is null) and (period is null) = (period_end is null) and (period is null) = (anchor_at is null)
    and period_end > period_start),
  constraint subscriptions_events check (events >= 1)
) with (fillfactor = 70);
-- The promise: two payments, a double click, a renewal against a purchase cannot make two.
create unique index subscriptions_live on recoup.subscriptions (customer_id) where status in ('pending', 'active', 'past_due');
create index subscriptions_customer on recoup.subscriptions (customer_id, started_at);
create index subscriptions_due_at on recoup.subscriptions (due_at, id) where due_at is not null;

-- What each period granted: once, whoever renews.
create table recoup.subscription_periods (
  subscription_id text collate "C" not null,
  period int not null,
  period_start timestamptz not null,
  period_end timestamptz not null,
  -- What it granted so far, and what was earned by the time at which the plan last changed within it.
  granted bigint not null,
  earned numeric not null default 0,
  earned_at timestamptz not null,
  constraint subscription_periods_pkey primary key (subscription_id, period),
  constraint subscription_periods_period check (period >= 0 and period_end > period_start),
  constraint subscription_periods_granted check (granted >= 0),
  constraint subscription_periods_earned check (earned >= 0 and earned_at between period_start and period_end)
);
create unique index subscription_periods_start on recoup.subscription_periods (subscription_id, period_start);

create table recoup.subscription_events (
  subscription_id text collate "C" not null,
  number int not null,
  type text not null,
  at timestamptz not null,
  plan_id text collate "C" not null,
  period int,
  -- Of a payment, or the caller's: once per subscription.
  key text collate "C",
  actor text,
  reason text,
  tx xid8 not null default pg_current_xact_id(),
  constraint subscription_events_pkey primary key (subscription_id, number),
  constraint subscription_events_type check (type in
    ('started', 'activated', 'renewed', 'past_due', 'plan_changed', 'plan_planned', 'canceling', 'resumed', 'expired', 'superseded', 'revoked', 'stray'))
);
create unique index subscription_events_once on recoup.subscription_events (subscription_id, key) where key is not null;
create index subscription_events_stray on recoup.subscription_events (at, subscription_id) where type = 'stray';
create trigger subscription_events_append_only before update or delete or truncate on recoup.subscription_events
  for each statement execute function recoup.refuse_rewrite();
alter table recoup.subscription_events enable always trigger subscription_events_append_only;
revoke update, delete, truncate on recoup.subscription_events from current_user;
