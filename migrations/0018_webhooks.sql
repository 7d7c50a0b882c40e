-- Webhook subscriptions, deliveries that are due, and their attempts.

create table webhooks (
  account_id                  text collate "C" not null references accounts,
  id                          text collate "C" not null,
  url                         text not null,
  events                      text[] not null,
  status                      text not null default 'enabled'
                                check (status in ('enabled', 'disabled')),
  disabled_reason             text,
  description                 text,
  secret_sealed               text not null,
  secret_hint                 text not null,
  -- Signs too until it expires.
  previous_secret_sealed      text,
  previous_secret_expires_at  timestamptz,
  -- The account's last event before the subscription, which receives only later ones.
  after_sequence              bigint not null,
  failing_since               timestamptz,
  last_delivery_at            timestamptz,
  version                     bigint not null default 1,
  created_at                  timestamptz not null,
  updated_at                  timestamptz not null,
  -- The grant whose token created the subscription, which ends with it; null for the owner's.
  grant_id                    text collate "C",
  primary key (account_id, id),
  check ((status = 'disabled') = (disabled_reason is not null)),
  check ((previous_secret_sealed is null) = (previous_secret_expires_at is null))
) with (fillfactor = 70);
create index webhooks_failing on webhooks (failing_since)
  where status = 'enabled' and failing_since is not null;
create index webhooks_grant on webhooks (grant_id) where grant_id is not null;
call guard_table('webhooks', 'select, insert, update, delete');

-- Due deliveries: one row per event and subscription, deleted when it was delivered or given up. A
-- worker that takes a row moves next_attempt_at ahead by its lease, so a crash makes it due again.
--
-- The key does not begin with the account: a queue that fills and empties has no useful statistics,
-- and a row must always be found by its key. There is no foreign key to webhooks, because checking
-- each row was a large part of a delivery's cost. The writer of deliveries locks their subscription
-- until it commits, and a transaction that deletes one deletes its deliveries afterwards, in the
-- same transaction. A proof of `florin audit books` finds a delivery without a subscription.
create table deliveries (
  account_id       text collate "C" not null,
  webhook_id       text collate "C" not null,
  event_id         text collate "C" not null,
  -- Scheduled attempts; replays are counted separately.
  attempts         integer not null default 0,
  replays          integer not null default 0,
  next_attempt_at  timestamptz not null,
  primary key (event_id, webhook_id)
) with (fillfactor = 70);
create index deliveries_due on deliveries (account_id, webhook_id, next_attempt_at);
call guard_table('deliveries', 'select, insert, update, delete');

create table delivery_attempts (
  account_id        text collate "C" not null,
  webhook_id        text collate "C" not null,
  event_id          text collate "C" not null,
  attempt           integer not null,
  id                text collate "C" not null,
  event_type        text not null,
  trigger           text not null check (trigger in ('automatic', 'replay')),
  url               text not null,
  status            text not null check (status in ('succeeded', 'failed')),
  response_status   integer,
  response_excerpt  text,
  error             text,
  duration_ms       integer not null,
  created_at        timestamptz not null,
  primary key (event_id, webhook_id, attempt)
);
create unique index delivery_attempts_recent on delivery_attempts (account_id, webhook_id, id);
create index delivery_attempts_age on delivery_attempts (created_at);
call guard_table('delivery_attempts', 'select, insert');
