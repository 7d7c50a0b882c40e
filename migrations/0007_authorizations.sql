-- Card payments: every message of a network, what it came to, and what waits for an answer.
--
-- A card's transactions change only under the lock of its card, so no row of these tables is
-- locked for itself.

-- One row is one event of a purchase. An authorization also carries the state of its hold: the
-- money itself stands in the card's hold purse, and held_micros is this purchase's share of it.
create table transactions (
  account_id                  text collate "C" not null,
  id                          text collate "C" not null,
  card_id                     text collate "C" not null,
  type                        text not null
                                check (type in ('authorization', 'capture', 'refund', 'decline')),
  status                      text not null check (status in ('pending', 'captured',
                                'partially_captured', 'reversed', 'expired', 'settled',
                                'declined')),
  -- Groups a purchase; on the authorization itself its own id; null where there was none.
  authorization_id            text collate "C",
  -- In the smallest unit of the merchant's currency, as the network sent it.
  amount_minor                bigint not null check (amount_minor >= 0),
  currency                    text not null,
  amount_micros               bigint not null check (amount_micros >= 0),
  fx_rate                     text,
  fee_micros                  bigint not null default 0,
  merchant_name               text not null,
  mcc                         text not null,
  merchant_city               text,
  merchant_country            text,
  merchant_id                 text,
  terminal_id                 text,
  -- Of an authorization: what may still be captured, and how much of that the card could cover.
  -- They differ only where the network approved more in our place than the card had.
  open_micros                 bigint not null default 0 check (open_micros >= 0),
  held_micros                 bigint not null default 0 check (held_micros >= 0),
  captured_micros             bigint not null default 0 check (captured_micros >= 0),
  refunded_micros             bigint not null default 0 check (refunded_micros >= 0),
  decline_code                text,
  failed_rules                text[] not null default '{}',
  card_present                boolean not null,
  entry_mode                  text not null,
  wallet                      text,
  three_ds_result             text,
  three_ds_challenge_id       text,
  network                     text not null check (network in ('visa', 'mastercard')),
  network_transaction_id      text,
  retrieval_reference_number  text,
  authorization_code          text,
  -- Taken at once by a single message: a reversal gives the money itself back.
  is_single_message           boolean not null default false,
  -- Decided by the network in our place, or posted without an authorization.
  is_stand_in                 boolean not null default false,
  is_forced                   boolean not null default false,
  -- Its message in network_messages; null where none came.
  message_identity            text collate "C",
  dispute_id                  text,
  version                     bigint not null default 1,
  created_at                  timestamptz not null,
  updated_at                  timestamptz not null,
  settled_at                  timestamptz,
  expires_at                  timestamptz,
  primary key (account_id, id),
  -- No reference to cards: rows are written under the lock of their card, and checking each one
  -- again would cost what an index does.
  check (held_micros <= open_micros),
  check (open_micros = 0 or type = 'authorization')
) with (fillfactor = 80);

create index transactions_of_card on transactions (account_id, card_id, id);
-- How later messages find the purchase they belong to; its captures and refunds are no purchases.
create index transactions_by_reference
  on transactions (account_id, card_id, retrieval_reference_number)
  where authorization_id is null or authorization_id = id;
create index transactions_of_purchase on transactions (account_id, authorization_id, id)
  where type in ('capture', 'refund');
create index transactions_to_expire on transactions (expires_at) where open_micros > 0;
create index transactions_of_dispute on transactions (account_id, dispute_id)
  where dispute_id is not null;

-- Every message that was answered, under what makes it the same message, with its answer byte for
-- byte. Card numbers, tracks, codes and PINs were taken out before it came here. The identity
-- begins with the day and time of the message, so that new rows land beside each other.
create table network_messages (
  identity         text collate "C" primary key,
  link             text not null,
  -- What a repeat must say again: the amount and its currency.
  fingerprint      text not null,
  account_id       text collate "C",
  card_id          text collate "C",
  transaction_id   text collate "C",
  mti              text not null,
  bitmap           text not null,
  fields           text not null,
  raw              bytea not null,
  response_mti     text not null,
  response_fields  text not null,
  response_code    text not null,
  answer           bytea not null,
  received_at      timestamptz not null
);

-- Reversals that came before what they reverse: when it comes, it is declined.
create table early_reversals (
  identity    text collate "C" primary key,
  created_at  timestamptz not null
);
create index early_reversals_age on early_reversals (created_at);

-- Wrong security codes and expiry dates of the last day, by card; five stop payments online.
create table card_attempts (
  account_id  text collate "C" not null,
  card_id     text collate "C" not null,
  failed_at   timestamptz[] not null,
  primary key (account_id, card_id),
  foreign key (account_id, card_id) references cards
);

-- 3-D Secure: a purchase online that waits for its holder's yes or no.
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
  -- Of the secret part of response_url.
  response_hash        text not null,
  -- The callback as it is sent, byte for byte.
  body                 text not null,
  attempts             integer not null default 0,
  next_attempt_at      timestamptz,
  decided_at           timestamptz,
  -- The authorization that it was shown with: an approval works once.
  used_by              text,
  created_at           timestamptz not null,
  expires_at           timestamptz not null,
  primary key (account_id, id),
  foreign key (account_id, card_id) references cards
);
create unique index three_ds_challenges_by_id on three_ds_challenges (id);
create index three_ds_challenges_due on three_ds_challenges (next_attempt_at)
  where status = 'pending' and next_attempt_at is not null;
create index three_ds_challenges_open on three_ds_challenges (expires_at)
  where status = 'pending';
