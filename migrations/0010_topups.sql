-- Deposits: top-ups, their addresses, and the transfers seen on chains.
--
-- An address is stored as the 40 lower-case hex digits of its 20 bytes; views format it per chain.

-- An address is never reused, so neither is its derivation index, even if the call fails. The
-- maximum is that of a non-hardened derivation.
create sequence deposit_address_index minvalue 0 start 0 maxvalue 2147483647;
insert into numbers (sequence) values ('deposit_address_index');
grant usage on sequence deposit_address_index to florin_service, florin_account;

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
  -- The status without pending transfers: the top-up returns to it if they disappear.
  resting_status   text not null default 'awaiting'
                     check (resting_status in ('awaiting', 'completed', 'cancelled', 'error')),
  resting_reason   text,
  -- Transfers that are not final, as of the last scan.
  pending          jsonb not null default '[]',
  pending_micros   bigint not null default 0 check (pending_micros >= 0),
  -- The sum of the final transfers, and the part that was credited. The rest is in suspense.
  final_micros     bigint not null default 0 check (final_micros >= 0),
  credited_micros  bigint not null default 0
                     check (credited_micros between 0 and final_micros),
  is_late          boolean not null default false,
  txids            text[] not null default '{}',
  -- The block of the last transfer; confirmations are counted from it.
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
  -- The OAuth client that created it; null for the owner, with a session or an API key.
  client_id        text,
  primary key (account_id, id),
  check ((status = 'confirming') = (pending_micros > 0))
) with (fillfactor = 80);
create index topups_open on topups (expires_at) where status = 'awaiting';
create index topups_pending on topups (chain) where status = 'confirming';
create index topups_by_txid on topups using gin (txids);
create index topups_of_client on topups (account_id, client_id, id) where client_id is not null;
call guard_table('topups', 'select, insert, update');

-- The owner of each address, looked up for every transfer on a chain. Rows are never deleted.
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
call guard_table('deposit_addresses', 'select, insert');

-- A withdrawal may ask about all addresses only this, and gets only yes or no.
create function is_deposit_address(of_chain text, wanted text) returns boolean
language sql stable security definer
begin atomic
  select exists (select from deposit_addresses where chain = of_chain and address = wanted);
end;
revoke execute on function is_deposit_address from public;
grant execute on function is_deposit_address to florin_service, florin_account;

-- How far each chain has been scanned, and the state of its node.
create table chain_cursors (
  chain             text primary key,
  finalized_number  bigint not null,
  finalized_hash    text not null,
  -- Up to this block every receipt was compared with the logs.
  audited_number    bigint not null,
  head_number       bigint not null,
  head_at           timestamptz not null,
  -- The last successful scan, by our clock.
  scanned_at        timestamptz not null,
  -- Why nothing is credited now; null without a fault.
  fault             text,
  -- The fault found by the audit of a final block. Nothing is credited until it is resolved.
  audit_fault       text
);
call guard_table('chain_cursors', 'select');

-- Why a chain that was never scanned successfully, and so has no cursor, is not scanned.
create table chain_faults (
  chain     text primary key,
  fault     text not null,
  noted_at  timestamptz not null
);
call guard_table('chain_faults');

-- Final transfers. The key is the position in the transaction's receipt, because the log's number
-- in its block changes if the transaction is mined again in another block.
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
  -- While it is refunding, the transfer is still in suspense and cannot be released.
  state                   text not null check (state in
                            ('credited', 'held', 'released', 'refunding', 'refunded')),
  -- Why it was not credited immediately.
  held_reason             text check (held_reason in ('below_minimum', 'screening', 'kill_switch')),
  movement_id             text not null unique,
  resolution_movement_id  text unique,
  created_at              timestamptz not null,
  asset                   text not null,
  primary key (chain, txid, ordinal),
  foreign key (account_id, topup_id) references topups,
  check ((state = 'credited') = (held_reason is null)),
  check ((state in ('released', 'refunded')) = (resolution_movement_id is not null))
);
create index chain_transfers_of_topup on chain_transfers (account_id, topup_id);
create index chain_transfers_held on chain_transfers (created_at) where state = 'held';
create index chain_transfers_by_block on chain_transfers (chain, block_number);
call guard_table('chain_transfers', 'select');

-- The coins that a deposit address received and the part that was swept. It follows from transfers
-- and sweeps, and a proof compares them; planning a sweep reads only this table.
create table address_holdings (
  chain            text not null,
  address          text collate "C" not null,
  asset            text not null,
  account_id       text collate "C" not null,
  topup_id         text collate "C" not null,
  address_index    bigint not null,
  received_micros  bigint not null check (received_micros > 0),
  swept_micros     bigint not null default 0
                     check (swept_micros between 0 and received_micros),
  unswept_micros   bigint not null generated always as (received_micros - swept_micros) stored,
  -- Set after a sweep that failed on the chain, because each attempt costs a fee.
  sweep_after      timestamptz,
  primary key (chain, address, asset)
) with (fillfactor = 80);
create index address_holdings_unswept on address_holdings (chain, unswept_micros desc)
  where unswept_micros > 0;
call guard_table('address_holdings');
