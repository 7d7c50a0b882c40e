-- Card transactions. They change only under the lock of their card, so rows are not locked.

-- One row per event of a purchase. An authorization also has the state of its hold: the money is in
-- the card's hold purse, and held_micros is this purchase's share of it.
--
-- Partitioned by ID; the archive's file creates the partitions.
create domain transaction_type as text
  check (value in ('authorization', 'capture', 'refund', 'decline'));
create domain transaction_status as text
  check (value in ('pending', 'captured', 'partially_captured', 'reversed', 'expired', 'settled',
                   'declined'));
create domain card_network as text check (value in ('visa', 'mastercard'));
create table transactions (
  account_id                  text collate "C" not null,
  id                          text collate "C" not null,
  card_id                     text collate "C" not null,
  type                        transaction_type not null,
  status                      transaction_status not null,
  -- The authorization of the purchase; an authorization's own id; null if there was none.
  authorization_id            text collate "C",
  -- In the minor unit of the merchant's currency, as the network sent it.
  amount_minor                nonnegative not null,
  currency                    text not null,
  amount_micros               nonnegative not null,
  fx_rate                     text,
  fee_micros                  bigint not null default 0,
  merchant_name               text not null,
  mcc                         text not null,
  merchant_city               text,
  merchant_country            text,
  merchant_id                 text,
  terminal_id                 text,
  -- Of an authorization: the amount that may still be captured, and the part that the card covers.
  -- They differ only if the network approved more in stand-in than the card had.
  open_micros                 nonnegative not null default 0,
  held_micros                 nonnegative not null default 0,
  captured_micros             nonnegative not null default 0,
  refunded_micros             nonnegative not null default 0,
  decline_code                text,
  failed_rules                text[] not null default '{}',
  card_present                boolean not null,
  entry_mode                  text not null,
  wallet                      text,
  three_ds_result             text,
  three_ds_challenge_id       text,
  network                     card_network not null,
  network_transaction_id      text,
  retrieval_reference_number  text,
  authorization_code          text,
  -- Captured by the authorization message itself: a reversal returns the money.
  is_single_message           boolean not null default false,
  -- Decided by the network in stand-in, or posted without an authorization.
  is_stand_in                 boolean not null default false,
  is_forced                   boolean not null default false,
  -- The row in network_messages; null without a message.
  message_identity            text collate "C",
  dispute_id                  text,
  version                     bigint not null default 1,
  created_at                  timestamptz not null,
  updated_at                  timestamptz not null,
  settled_at                  timestamptz,
  expires_at                  timestamptz,
  -- An increment counts towards the limits of its own day and month, and a reversal is subtracted
  -- where the amount was counted. Null if the whole authorization counted on its first day;
  -- otherwise the amounts of the last day that counted and of its month.
  counted_day                 date,
  counted_day_micros          bigint,
  counted_month_micros        bigint,
  primary key (account_id, id),
  -- No foreign key to cards: rows are written under the lock of their card, and the check would
  -- cost as much as an index.
  check (held_micros <= open_micros),
  check (open_micros = 0 or type = 'authorization')
) partition by range (id);
-- Every purchase writes to these indexes. A card belongs to one account, so the account is left
-- out: it would make each entry half as long again.
create index transactions_of_card on transactions (card_id, id);
-- Finds the purchase of a later message; captures and refunds are not purchases.
create index transactions_by_reference on transactions (card_id, retrieval_reference_number)
  where authorization_id is null or authorization_id = id;
create index transactions_of_purchase on transactions (account_id, authorization_id, id)
  where type in ('capture', 'refund');
create index transactions_to_expire on transactions (expires_at) where open_micros > 0;
create index transactions_of_dispute on transactions (account_id, dispute_id)
  where dispute_id is not null;
-- A page of declined purchases is a range of this index: an account has few of them, among
-- thousands of others.
create index transactions_declined on transactions (account_id, id) where status = 'declined';
-- For reports by day. A block range index costs a purchase almost nothing.
create index transactions_by_day on transactions using brin (created_at);
call guard_table('transactions', 'select, update');
-- Disputes have no foreign key that would refuse it.
revoke delete on transactions from florin_service;
