-- Telling the world: what is still to be told, to whom, and how each attempt went.

-- One row per event that nobody has looked at yet, written with the event and deleted when it has
-- been fanned out. Claimed by being there, never by "id above the last one": a transaction that
-- commits late must not be passed over.
create table outbox (
  account_id  text collate "C" not null,
  event_id    text collate "C" not null,
  primary key (event_id)
);

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
  -- Signs too, until its grace ends.
  previous_secret_sealed      text,
  previous_secret_expires_at  timestamptz,
  -- The account's last event before the subscription: it gets what comes after.
  after_sequence              bigint not null,
  failing_since               timestamptz,
  last_delivery_at            timestamptz,
  version                     bigint not null default 1,
  created_at                  timestamptz not null,
  updated_at                  timestamptz not null,
  primary key (account_id, id),
  check ((status = 'disabled') = (disabled_reason is not null)),
  check ((previous_secret_sealed is null) = (previous_secret_expires_at is null))
) with (fillfactor = 70);
create index webhooks_failing on webhooks (failing_since)
  where status = 'enabled' and failing_since is not null;

-- What is due: one row per event and subscription, gone once it was delivered or given up. A worker
-- that takes a row moves next_attempt_at ahead by its lease, so that a crash makes it due again.
-- Its key does not begin with the account, unlike most: a queue that fills and empties has no
-- statistics to go by, and a row asked for by event and subscription must be found by its key.
create table deliveries (
  account_id       text collate "C" not null,
  webhook_id       text collate "C" not null,
  event_id         text collate "C" not null,
  -- Those of the schedule; replays count beside them.
  attempts         integer not null default 0,
  replays          integer not null default 0,
  next_attempt_at  timestamptz not null,
  primary key (event_id, webhook_id),
  foreign key (account_id, webhook_id) references webhooks on delete cascade
) with (fillfactor = 70);
create index deliveries_due on deliveries (account_id, webhook_id, next_attempt_at);

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

-- E-mails. Written in the transaction that found out about their cause, sent by a task; without a
-- mail server they stay where they are, for the sandbox to show.
create table notices (
  id               bigint generated always as identity primary key,
  account_id       text collate "C" not null references accounts,
  kind             text not null,
  recipient        text not null,
  subject          text not null,
  body_text        text not null,
  body_html        text not null,
  state            text not null default 'due' check (state in ('due', 'sent', 'given_up')),
  attempts         integer not null default 0,
  next_attempt_at  timestamptz not null,
  last_error       text,
  created_at       timestamptz not null,
  sent_at          timestamptz
) with (fillfactor = 80);
create index notices_of_account on notices (account_id, id);
create index notices_due on notices (next_attempt_at) where state = 'due';
create index notices_age on notices (created_at);

-- Accounts that were told of their low balance; the row goes when the balance has recovered.
create table low_balances (
  account_id  text collate "C" primary key references accounts,
  told_at     timestamptz not null
);
create index accounts_with_threshold on accounts (id)
  where notifications ->> 'low_balance_threshold_usd' is not null;

-- Announced maintenance. Every account is told by an event of its own; told_up_to is how far that
-- has come, in the order of account ids, among the accounts there were when it was announced.
create table maintenances (
  id            bigint generated always as identity primary key,
  starts_at     timestamptz not null,
  ends_at       timestamptz not null,
  message       text not null,
  components    text[] not null,
  announced_at  timestamptz not null,
  told_up_to    text collate "C" not null default '',
  told_at       timestamptz,
  check (ends_at > starts_at)
);
create index maintenances_untold on maintenances (id) where told_at is null;

-- Pages of the activity stream by card, by kind and by failure are ranges of these.
create index events_of_card on events (account_id, card_id, id) where card_id is not null;
create index events_of_kind on events (account_id, activity_type, id)
  where activity_type is not null;
create index events_of_failure on events (account_id, id) where severity = 'error';
