-- Payments: what a provider said of one, what it granted, and what of that was taken back.
create table recoup.payments (
  id text collate "C" constraint payments_pkey primary key,
  -- What it is for: credits of a wallet, or a period of a subscription. Null until it is told.
  wallet_id text collate "C",
  subscription_id text collate "C",
  credits bigint,
  expires_at timestamptz,
  priority smallint,
  -- In the currency's smallest unit: all of it, and how much was given back so far.
  amount bigint,
  paid boolean not null default false,
  refunded bigint not null default 0,
  -- By id: [amount, open | won | lost].
  disputes jsonb not null default '{}',
  granted_in text collate "C",
  granted_seq bigint,
  granted bigint not null default 0,
  -- How much of the grant is taken back at present, and by how many entries it came to that.
  taken bigint not null default 0,
  bookings int not null default 0,
  first_at timestamptz not null,
  told_at timestamptz not null,
  constraint payments_for check (wallet_id is null or subscription_id is null),
  constraint payments_credits check ((credits is not null) = (wallet_id is not null) and credits between 1 and 9007199254740991),
  constraint payments_priority check (priority between 0 and 9),
  constraint payments_amount check (amount between 1 and 9007199254740991),
  constraint payments_refunded check (refunded between 0 and 9007199254740991),
  constraint payments_granted check ((granted_seq is not null) = (granted > 0) and (granted_in is not null) = (granted > 0) and granted >= 0 and (granted = 0 or paid)),
  constraint payments_taken check (taken between 0 and granted),
  constraint payments_bookings check (bookings >= 0)
);
create index payments_wallet on recoup.payments (granted_in, first_at) where granted_in is not null;
-- Paid and not granted: somebody has to look.
create index payments_open on recoup.payments (first_at, id) where paid and granted = 0;

-- Other ids of a payment: an invoice and the charge that paid it are one.
create table recoup.payment_ids (
  id text collate "C" constraint payment_ids_pkey primary key,
  payment_id text collate "C" not null,
  constraint payment_ids_other check (id <> payment_id)
);
