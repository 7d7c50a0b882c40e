-- Transfers signed with our keys: withdrawals, refunds of deposits, and sweeps.

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
  -- The internal state: review (an operator must approve it), reserved (to be signed), signed (the
  -- bytes are stored and may have been sent), completed or failed.
  step            text not null
                    check (step in ('review', 'reserved', 'signed', 'completed', 'failed')),
  attempt         integer not null default 1,
  txid            text,
  block_number    bigint,
  -- Proves to the signer that this transfer was requested.
  approval        text not null,
  next_try_at     timestamptz not null,
  metadata        jsonb not null default '{}',
  version         bigint not null default 1,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  broadcasted_at  timestamptz,
  completed_at    timestamptz,
  -- The movement of the held deposit that is refunded; null for an account's withdrawal.
  refund_of       text,
  -- The OAuth client that requested it; null for the owner, with a session or an API key.
  client_id       text,
  primary key (account_id, id),
  check ((status in ('completed', 'failed')) = (step in ('completed', 'failed')))
) with (fillfactor = 80);
create index withdrawals_open on withdrawals (chain, next_try_at)
  where step in ('reserved', 'signed');
create unique index withdrawals_refund on withdrawals (refund_of)
  where refund_of is not null and step <> 'failed';
create unique index withdrawals_by_id on withdrawals (id);
create index withdrawals_in_review on withdrawals (id) where step = 'review';
create index withdrawals_of_client on withdrawals (account_id, client_id, id)
  where client_id is not null;
call guard_table('withdrawals', 'select, insert, update');

-- Every transfer signed for a withdrawal, stored with its bytes before it is sent.
create table withdrawal_transfers (
  account_id     text collate "C" not null,
  withdrawal_id  text collate "C" not null,
  attempt        integer not null,
  txid           text not null unique,
  raw            text not null,
  signature      text not null,
  -- TRON: it cannot be executed later. EVM: its nonce.
  expires_at     timestamptz,
  nonce          bigint,
  created_at     timestamptz not null,
  primary key (account_id, withdrawal_id, attempt),
  foreign key (account_id, withdrawal_id) references withdrawals
);
create trigger withdrawal_transfers_append_only before update or delete or truncate
  on withdrawal_transfers for each statement execute function refuse_change();
call guard_table('withdrawal_transfers', 'select');

-- Transfers of coins from a deposit address to the hot wallet. They are not in the ledger: the
-- customer was credited when the deposit became final.
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
  next_try_at    timestamptz not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  -- The amount of the network's coin sent to the address for fees, set before it is signed.
  fuel           bigint check (fuel > 0),
  primary key (chain, address, number)
);
create unique index sweeps_one_at_a_time on sweeps (chain, address)
  where step not in ('done', 'failed');
create index sweeps_open on sweeps (chain, next_try_at) where step not in ('done', 'failed');
call guard_table('sweeps');

-- Every transfer signed for a sweep, stored with its bytes before it is sent.
create table sweep_transfers (
  chain       text not null,
  address     text collate "C" not null,
  number      integer not null,
  -- Fuel is sent to the address; then the asset is sent from it.
  leg         text not null check (leg in ('fuel', 'asset')),
  attempt     integer not null,
  txid        text not null unique,
  raw         text not null,
  signature   text not null,
  expires_at  timestamptz,
  nonce       bigint,
  created_at  timestamptz not null,
  primary key (chain, address, number, leg, attempt),
  foreign key (chain, address, number) references sweeps
);
create trigger sweep_transfers_append_only before update or delete or truncate
  on sweep_transfers for each statement execute function refuse_change();
call guard_table('sweep_transfers');

-- The next nonce of each sender. It is taken in the transaction that stores the transfer, so no
-- nonce is used twice or skipped.
create table sender_orders (
  chain       text not null,
  address     text collate "C" not null,
  next_nonce  bigint not null check (next_nonce >= 0),
  primary key (chain, address)
);
call guard_table('sender_orders');
