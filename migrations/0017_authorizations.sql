-- Card messages: every message of a network, its response, and clearings that wait for a person.

-- Every message with its response, byte for byte, under the fields that identify it. Card numbers,
-- tracks, codes and PINs are removed before. The identity begins with the message's date and time,
-- so new rows are stored next to each other.
create table network_messages (
  identity         text collate "C" primary key,
  link             text not null,
  -- The fields that a repeat must match: amount and currency.
  fingerprint      text not null,
  account_id       text collate "C",
  transaction_id   text collate "C",
  mti              text not null,
  -- The bytes of a card link, masked. Its elements are read from them: stored twice, they took a
  -- third of the row. A processor sends no such bytes, so its elements are stored as JSON.
  raw              bytea not null,
  fields           text,
  response_mti     text not null,
  response_fields  text,
  response_code    text not null,
  answer           bytea not null,
  received_at      timestamptz not null
);
call guard_table('network_messages', 'select');

-- Reversals that arrived before their original message, which is then declined.
create table early_reversals (
  identity    text collate "C" primary key,
  created_at  timestamptz not null
);
create index early_reversals_age on early_reversals (created_at);
call guard_table('early_reversals');

-- 3-D Secure challenges: online purchases that wait for the cardholder's approval.
create table three_ds_challenges (
  account_id           text collate "C" not null,
  id                   text collate "C" not null,
  card_id              text collate "C" not null,
  amount_minor         bigint not null,
  currency             text not null,
  amount_micros        bigint not null,
  merchant_name        text not null,
  mcc                  text not null,
  merchant_country     text,
  status               text not null default 'pending'
                         check (status in ('pending', 'approved', 'declined', 'expired')),
  -- Hash of the secret part of response_url.
  response_hash        text not null,
  -- The callback as it is sent, byte for byte.
  body                 text not null,
  attempts             integer not null default 0,
  next_attempt_at      timestamptz,
  decided_at           timestamptz,
  -- The authorization that used the approval: it works once.
  used_by              text,
  created_at           timestamptz not null,
  expires_at           timestamptz not null,
  -- An approval is valid only for its merchant, by id if both sides have one.
  merchant_id          text,
  -- The grants whose webhooks received the challenge. When one ends, its unused approvals are void.
  asked_grants         text[] not null default '{}',
  primary key (account_id, id),
  foreign key (account_id, card_id) references cards
);
create unique index three_ds_challenges_by_id on three_ds_challenges (id);
create index three_ds_challenges_due on three_ds_challenges (next_attempt_at)
  where status = 'pending' and next_attempt_at is not null;
create index three_ds_challenges_open on three_ds_challenges (expires_at)
  where status = 'pending';
call guard_table('three_ds_challenges', 'select, update');

-- Clearings that wait for a person. A clearing cannot be refused, so it is stored and booked later:
--   dollars  its currency has no known rate: no element 6 and no purchase with a rate
--   review   a refund beyond the amount of its purchase, if the program reviews those
create table pending_clearings (
  account_id        text collate "C" not null,
  -- Its own id; the resulting transaction gets another one.
  id                text collate "C" not null,
  card_id           text collate "C" not null,
  kind              text not null check (kind in ('advise', 'capture', 'refund')),
  amount_minor      bigint not null,
  currency          text not null,
  merchant_name     text not null,
  -- The engine's request, without the card number and the message.
  request           jsonb not null,
  message_identity  text collate "C" not null,
  amount_micros     bigint check (amount_micros > 0),
  created_at        timestamptz not null,
  settled_at        timestamptz,
  waits_for         text not null default 'conversion'
                      check (waits_for in ('conversion', 'review')),
  approved_at       timestamptz,
  -- Refused by a person, or reversed by the network while it waited.
  refused_at        timestamptz,
  primary key (account_id, id),
  foreign key (account_id, card_id) references cards,
  check (settled_at is null or amount_micros is not null),
  check (settled_at is null or refused_at is null),
  check (waits_for = 'conversion' or amount_micros is not null)
);
create unique index pending_clearings_waiting on pending_clearings (id)
  where settled_at is null;
create index pending_clearings_by_message on pending_clearings (message_identity)
  where settled_at is null and refused_at is null;
call guard_table('pending_clearings', 'select');

-- The captures that a refund was counted on, so a reversal returns each part to its capture. No
-- foreign key: both are transactions of one card, written under its lock.
create table refund_parts (
  account_id     text collate "C" not null,
  refund_id      text collate "C" not null,
  capture_id     text collate "C" not null,
  amount_micros  bigint not null check (amount_micros > 0),
  primary key (account_id, refund_id, capture_id)
);
create index refund_parts_of_capture on refund_parts (account_id, capture_id);
create trigger refund_parts_append_only before update or delete or truncate on refund_parts
  for each statement execute function refuse_change();
call guard_table('refund_parts', 'select');
