-- Events of accounts, and those that still have to be fanned out.

-- An account's sequence row. Events and audit entries are appended under its lock, which is the
-- last lock of any transaction, so both are gapless and in commit order.
create table account_sequences (
  account_id      text collate "C" primary key references accounts,
  event_sequence  bigint not null default 0,
  audit_count     bigint not null default 0,
  audit_hash      text not null,
  -- The newest event. The next one gets a greater ID, also from a node whose clock is behind:
  -- streams and lists follow IDs, and would miss an event that sorts before one they have shown.
  last_event_id   text collate "C" not null default ''
);
call guard_table('account_sequences', 'select, update');

-- Webhook events have a body, byte for byte as it is sent; rows without one are shown in the
-- activity stream only. The sequence number counts the types that "*" includes, so events that are
-- subscribed to by name have none.
--
-- Partitioned by ID; the archive's file creates the partitions.
--
-- There is no foreign key to accounts and no unique index on the sequence: an event is written
-- under the lock of its account's sequence row, and every purchase would pay for both. Proofs of
-- `florin audit books` find an event without an account and a sequence with a gap or a duplicate.
create domain activity_type as text check (value in ('topup', 'card', 'spend', 'error'));
create domain severity as text check (value in ('info', 'warning', 'error'));
create table events (
  account_id     text collate "C" not null,
  id             text collate "C" not null,
  sequence       bigint,
  type           text not null,
  activity_type  activity_type,
  severity       severity not null,
  message        text not null,
  card_id        text,
  amount_micros  bigint,
  resource_type  text not null,
  resource_id    text not null,
  body           text,
  created_at     timestamptz not null,
  -- The OAuth client whose call caused it; null for the owner. Events of card messages have none:
  -- they are found by the agent's cards.
  client_id      text,
  primary key (account_id, id),
  constraint events_body_check check (sequence is null or body is not null)
) partition by range (id);
-- Filtered pages of the activity stream are ranges of these. Every purchase writes an event, so the
-- indexes are short: a card belongs to one account, and spending is found by the primary key.
create index events_of_card on events (card_id, id) where card_id is not null;
create index events_of_kind on events (account_id, activity_type, id)
  where activity_type <> 'spend';
create index events_of_failure on events (account_id, id) where severity = 'error';
create index events_of_client on events (account_id, client_id, id) where client_id is not null;
create trigger events_append_only before update or truncate on events
  for each statement execute function refuse_change();
call guard_table('events', 'select, insert');

-- Events that have not been fanned out, written with the event and deleted by the fan-out. It takes
-- the rows that exist instead of "id above the last one", which would skip a late commit.
create table outbox (
  account_id  text collate "C" not null,
  event_id    text collate "C" not null,
  primary key (event_id)
);
call guard_table('outbox', 'insert');
