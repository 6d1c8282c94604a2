-- API keys of the service, and the secrets it signs with. A key is stored as a hash only: its secret is shown once.

create table recoup.api_keys (
  id text collate "C" not null,
  hash bytea not null,
  name text not null,
  scopes text[] not null,
  customer_id text collate "C",
  created_at timestamptz not null default recoup.clock(),
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint api_keys_pkey primary key (id),
  constraint api_keys_id check (id ~ '^[0-9a-z]{12}$'),
  constraint api_keys_hash check (octet_length(hash) = 32),
  constraint api_keys_scopes check (cardinality(scopes) between 1 and 6
    and scopes <@ array['app', 'worker', 'viewer', 'support', 'operator', 'admin']),
  constraint api_keys_of_customer check (customer_id is null or scopes = array['viewer'])
);

-- What signs callback URLs: made once by whichever replica is first, the same for all of them.
create table recoup.secrets (
  name text collate "C" not null,
  value bytea not null,
  created_at timestamptz not null default recoup.clock(),
  constraint secrets_pkey primary key (name),
  constraint secrets_value check (octet_length(value) >= 32)
);
