-- Money that comes from chains and goes to them.
--
-- Addresses are the 40 lower-case digits of their 20 bytes; how a chain spells them is for views.

-- Addresses are never used again, so neither is an index, whatever becomes of the call that took
-- it. The bound is that of a plain (not hardened) derivation.
create sequence deposit_address_index minvalue 0 start 0 maxvalue 2147483647;

create table topups (
  account_id       text collate "C" not null references accounts,
  id               text collate "C" not null,
  asset            text not null,
  chain            text not null,
  deposit_address  text not null,
  address_index    bigint not null,
  amount_micros    bigint not null check (amount_micros > 0),
  status           text not null default 'awaiting'
                     check (status in
                       ('awaiting', 'confirming', 'completed', 'cancelled', 'error')),
  status_reason    text,
  -- What it is while nothing is pending: where it returns to when a pending transfer vanishes.
  resting_status   text not null default 'awaiting'
                     check (resting_status in ('awaiting', 'completed', 'cancelled', 'error')),
  resting_reason   text,
  -- Transfers that were seen and are not final, as the last look at the chain found them.
  pending          jsonb not null default '[]',
  pending_micros   bigint not null default 0 check (pending_micros >= 0),
  -- What is final: all of it, and what of it is in the balance. The rest is in suspense.
  final_micros     bigint not null default 0 check (final_micros >= 0),
  credited_micros  bigint not null default 0
                     check (credited_micros between 0 and final_micros),
  is_late          boolean not null default false,
  txids            text[] not null default '{}',
  -- The block of the last transfer, by which confirmations are counted.
  last_block       bigint,
  qr_data_uri      text not null,
  payment_uri      text not null,
  expires_at       timestamptz not null,
  closed_at        timestamptz,
  completed_at     timestamptz,
  metadata         jsonb not null default '{}',
  version          bigint not null default 1,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  primary key (account_id, id),
  check ((status = 'confirming') = (pending_micros > 0))
) with (fillfactor = 80);

create index topups_open on topups (expires_at) where status = 'awaiting';
create index topups_pending on topups (chain) where status = 'confirming';
create index topups_by_txid on topups using gin (txids);

-- Whose address is it? Asked for every transfer on a chain, for ever: no row is ever deleted.
create table deposit_addresses (
  chain          text not null,
  address        text collate "C" not null,
  account_id     text collate "C" not null,
  topup_id       text collate "C" not null,
  address_index  bigint not null,
  created_at     timestamptz not null,
  primary key (chain, address),
  foreign key (account_id, topup_id) references topups
);
create trigger deposit_addresses_append_only before update or delete or truncate
  on deposit_addresses for each statement execute function refuse_change();

-- How far each chain has been read, and how the node behind it is doing.
create table chain_cursors (
  chain             text primary key,
  finalized_number  bigint not null,
  finalized_hash    text not null,
  -- Up to here every receipt of every block was compared with what the logs had told.
  audited_number    bigint not null,
  head_number       bigint not null,
  head_at           timestamptz not null,
  -- When the chain was last read well, by our clock.
  scanned_at        timestamptz not null,
  -- Why nothing is credited at the moment; null while all is well.
  fault             text
);

-- Transfers that are final, each once. Keyed by the place in the transaction's own receipt: the
-- number of a log in its block changes when the transaction is mined again elsewhere.
create table chain_transfers (
  chain                   text not null,
  txid                    text collate "C" not null,
  ordinal                 integer not null,
  account_id              text collate "C" not null,
  topup_id                text collate "C" not null,
  block_number            bigint not null,
  block_hash              text not null,
  block_at                timestamptz not null,
  from_address            text not null,
  value_micros            bigint not null check (value_micros > 0),
  screening               jsonb not null,
  state                   text not null
                            check (state in ('credited', 'held', 'released', 'refunded')),
  -- Why it was not credited at once.
  held_reason             text check (held_reason in ('below_minimum', 'screening', 'kill_switch')),
  movement_id             text not null unique,
  resolution_movement_id  text unique,
  created_at              timestamptz not null,
  primary key (chain, txid, ordinal),
  foreign key (account_id, topup_id) references topups,
  check ((state = 'credited') = (held_reason is null)),
  check ((state in ('released', 'refunded')) = (resolution_movement_id is not null))
);
create index chain_transfers_of_topup on chain_transfers (account_id, topup_id);
create index chain_transfers_held on chain_transfers (created_at) where state = 'held';
create index chain_transfers_by_block on chain_transfers (chain, block_number);

create table withdrawals (
  account_id      text collate "C" not null references accounts,
  id              text collate "C" not null,
  asset           text not null,
  chain           text not null,
  address         text not null,
  amount_micros   bigint not null check (amount_micros > 0),
  fee_micros      bigint not null check (fee_micros >= 0 and fee_micros < amount_micros),
  status          text not null default 'pending'
                    check (status in ('pending', 'broadcasted', 'completed', 'failed')),
  status_reason   text,
  -- Where it really is: review (a person must approve it), reserved (to be signed), signed (the
  -- bytes are stored and may be out), and the two ends.
  step            text not null
                    check (step in ('review', 'reserved', 'signed', 'completed', 'failed')),
  attempt         integer not null default 1,
  txid            text,
  block_number    bigint,
  -- The service's word to the signer that this very transfer was asked for.
  approval        text not null,
  next_try_at     timestamptz not null,
  metadata        jsonb not null default '{}',
  version         bigint not null default 1,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  broadcasted_at  timestamptz,
  completed_at    timestamptz,
  primary key (account_id, id),
  check ((status in ('completed', 'failed')) = (step in ('completed', 'failed')))
) with (fillfactor = 80);

create index withdrawals_open on withdrawals (chain, next_try_at)
  where step in ('reserved', 'signed');

-- Every transfer that was ever signed for a withdrawal, with its bytes, before it was sent.
create table withdrawal_transfers (
  account_id     text collate "C" not null,
  withdrawal_id  text collate "C" not null,
  attempt        integer not null,
  txid           text not null unique,
  raw            text not null,
  signature      text not null,
  -- TRON: after this it can never execute. EVM: its place in the sender's order.
  expires_at     timestamptz,
  nonce          bigint,
  created_at     timestamptz not null,
  primary key (account_id, withdrawal_id, attempt),
  foreign key (account_id, withdrawal_id) references withdrawals
);
create trigger withdrawal_transfers_append_only before update or delete or truncate
  on withdrawal_transfers for each statement execute function refuse_change();

-- Money on its way from a deposit address to the hot wallet. The customer's ledger knows nothing
-- of it: what was credited stays credited wherever the coins are.
create table sweeps (
  chain          text not null,
  address        text collate "C" not null,
  number         integer not null,
  address_index  bigint not null,
  asset          text not null,
  value_micros   bigint not null check (value_micros > 0),
  step           text not null
                   check (step in ('planned', 'fuelling', 'fuelled', 'sweeping', 'done', 'failed')),
  attempt        integer not null default 1,
  -- The transfer under way: of fuel to the address, then of the asset from it.
  txid           text,
  raw            text,
  signature      text,
  expires_at     timestamptz,
  next_try_at    timestamptz not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (chain, address, number)
);
create unique index sweeps_one_at_a_time on sweeps (chain, address)
  where step not in ('done', 'failed');
create index sweeps_open on sweeps (chain, next_try_at) where step not in ('done', 'failed');
