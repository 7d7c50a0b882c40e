-- Calls paid one by one (x402): payments and the transfers that our relayer signed for them.

-- A payment is a signed permission to move coins. It is valid once on its chain by (payer, nonce),
-- and pays for one call by the same pair. It is reserved before the work:
--   reserved  nothing was sent; if its call dies, it can be used again
--   settling  signed and perhaps sent; only the chain knows
--   settled   the coins have arrived, the call has not been made
--   spent     the call was made, in the same transaction
--   failed    the coins did not move and we will not send them
--   owed      the coins have arrived and the call was refused: they go back by one of these states
--   refunding, refunded  on the chain, to the payer
--   credited  to the treasury of the calling account
create table x402_payments (
  id               text collate "C" primary key,
  network          text not null,
  asset            text not null,
  payer            text not null,
  nonce            text not null,
  amount_micros    bigint not null check (amount_micros > 0),
  pay_to           text not null,
  valid_before     timestamptz not null,
  -- Null for a call without an account.
  account_id       text collate "C" references accounts,
  operation        text not null,
  request_id       text not null,
  -- Of the whole request and its Idempotency-Key: the payment pays for no other request.
  fingerprint      text not null,
  state            text not null check (state in ('reserved', 'settling', 'settled', 'spent',
                     'failed', 'owed', 'refunding', 'refunded', 'credited')),
  state_reason     text,
  -- The signed payload, to ask a facilitator again after a crash.
  payload          jsonb not null,
  txid             text,
  -- The payment belongs to a running call until then.
  leased_until     timestamptz not null,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  settled_at       timestamptz,
  unique (network, asset, payer, nonce)
) with (fillfactor = 70);
create index x402_payments_open on x402_payments (leased_until)
  where state in ('reserved', 'settling', 'settled', 'owed', 'refunding');
create index x402_payments_by_request on x402_payments (fingerprint);
call guard_table('x402_payments', 'select, update');

-- Transfers signed by the relayer. The nonce is taken and the bytes are stored in one transaction,
-- so there are no gaps, and stored bytes are sent until they are mined.
create table x402_transfers (
  network       text not null,
  relayer       text not null,
  nonce         bigint not null,
  payment_id    text collate "C" not null references x402_payments,
  purpose       text not null check (purpose in ('settlement', 'refund')),
  txid          text not null unique,
  raw           text not null,
  state         text not null default 'signed' check (state in ('signed', 'mined', 'reverted')),
  -- The network fee, in the network's coin and as booked.
  fee_wei       numeric(78, 0),
  fee_micros    bigint,
  created_at    timestamptz not null,
  mined_at      timestamptz,
  primary key (network, relayer, nonce),
  check ((state = 'signed') = (mined_at is null))
);
create index x402_transfers_of_payment on x402_transfers (payment_id);
create index x402_transfers_open on x402_transfers (created_at) where state = 'signed';
call guard_table('x402_transfers');
