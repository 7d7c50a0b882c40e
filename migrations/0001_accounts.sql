-- Accounts, their credentials, and the trail every change leaves.
--
-- The account is the unit of distribution: each table that belongs to an account carries
-- account_id and leads its key with it, and no operation touches two accounts.
--
-- Ids are text in "C" order, so that they sort by the moment they were made on any server.

create table accounts (
  id                   text collate "C" primary key,
  email                text not null unique,
  password_hash        text not null,
  status               text not null default 'active' check (status in ('active', 'suspended')),
  notifications        jsonb not null,
  rate_profile         text check (rate_profile in ('default', 'conservative')),
  spend_limits         jsonb not null default '{}',
  totp_status          text not null default 'disabled'
                         check (totp_status in ('disabled', 'pending', 'enabled')),
  totp_secret_sealed   text,
  -- The last time step whose code was used: a code works once.
  totp_last_step       bigint not null default 0,
  version              bigint not null default 1,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  check ((totp_status = 'disabled') = (totp_secret_sealed is null))
);

create table recovery_codes (
  account_id  text collate "C" not null references accounts,
  code_hash   text not null,
  primary key (account_id, code_hash)
);

create table sessions (
  account_id   text collate "C" not null references accounts,
  id           text collate "C" not null,
  bearer_hash  text not null unique,
  ip           text not null,
  user_agent   text not null,
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  ended_at     timestamptz,
  primary key (account_id, id)
);

create table api_keys (
  account_id    text collate "C" not null references accounts,
  id            text collate "C" not null,
  name          text,
  prefix        text not null,
  key_hash      text not null unique,
  status        text not null default 'active' check (status in ('active', 'revoked')),
  last_used_at  timestamptz,
  last_used_ip  text,
  created_at    timestamptz not null,
  revoked_at    timestamptz,
  primary key (account_id, id),
  check ((status = 'revoked') = (revoked_at is not null))
);

-- One row per key, address and day: the first use of a day is an audit entry, later ones are not.
create table api_key_uses (
  account_id  text collate "C" not null,
  key_id      text collate "C" not null,
  ip          text not null,
  day         date not null,
  primary key (account_id, key_id, ip, day)
);

-- Recent guesses at a password or code, by a fingerprint of what was guessed at. Kept whether or
-- not such an account exists, so that being locked out tells nothing.
create table guesses (
  subject_hash  text primary key,
  guessed_at    timestamptz[] not null
);

-- What an account's trail has come to. Events and audit entries are appended under this row's
-- lock, which is the last one any transaction takes; so both are gapless and in commit order.
create table account_heads (
  account_id      text collate "C" primary key references accounts,
  event_sequence  bigint not null default 0,
  audit_count     bigint not null default 0,
  audit_hash      text not null
);

-- Events and activity. Rows with a sequence are webhook events and carry their body, byte for byte
-- as it is sent; rows without are activity only.
create table events (
  account_id     text collate "C" not null references accounts,
  id             text collate "C" not null,
  sequence       bigint,
  type           text not null,
  activity_type  text check (activity_type in ('topup', 'card', 'spend', 'error')),
  severity       text not null check (severity in ('info', 'warning', 'error')),
  message        text not null,
  card_id        text,
  amount_micros  bigint,
  resource_type  text not null,
  resource_id    text not null,
  body           text,
  created_at     timestamptz not null,
  primary key (account_id, id),
  unique (account_id, sequence),
  check ((sequence is null) = (body is null))
);

create table audit_entries (
  account_id     text collate "C" not null references accounts,
  id             text collate "C" not null,
  position       bigint not null,
  action         text not null,
  actor_type     text not null check (
                   actor_type in ('session', 'api_key', 'oauth_client', 'system', 'operator')),
  actor_id       text,
  actor_name     text,
  operation      text,
  result         text not null check (result in ('success', 'denied', 'failure')),
  resource_type  text,
  resource_id    text,
  ip             text,
  user_agent     text,
  request_id     text,
  created_at     timestamptz not null,
  prev_hash      text not null,
  hash           text not null,
  primary key (account_id, id),
  unique (account_id, position)
);

-- Answers kept under an Idempotency-Key, written in the transaction of the effect itself.
create table idempotent_answers (
  scope        text not null,
  key          text not null,
  fingerprint  text not null,
  status       integer not null,
  body         text not null,
  account_id   text collate "C",
  created_at   timestamptz not null,
  replayed_at  timestamptz,
  primary key (scope, key)
);
create index idempotent_answers_age on idempotent_answers (created_at);

-- How far the service's clock runs ahead of the world's. One row, shared by every node.
create table clock (
  is_only    boolean primary key default true check (is_only),
  offset_ms  bigint not null default 0
);
insert into clock default values;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end
$$;

create trigger audit_entries_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_change();
create trigger events_append_only before update or truncate on events
  for each statement execute function refuse_change();
