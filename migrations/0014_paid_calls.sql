-- Calls that are paid for one by one (x402): the payments, and what our relayer signed for them.

-- A payment is a signed permission to move coins, good once on its chain by (payer, nonce); here it
-- is good for one call by the same pair. It is reserved before the work, and every state but the
-- first says whether the coins have moved:
--   reserved  nothing was sent; if the call that holds it dies, it is as good as new
--   settling  signed and perhaps on its way; only the chain knows
--   settled   the coins are ours, the call is still owed
--   spent     the call was made, in the same transaction as this word
--   failed    the coins did not move and will not by our hand
--   owed      the coins are ours and the call was refused: they go back by one of the next three
--   refunding, refunded  on the chain, to the payer
--   credited  to the treasury of the account that called
create table x402_payments (
  id               text collate "C" primary key,
  network          text not null,
  asset            text not null,
  payer            text not null,
  nonce            text not null,
  amount_micros    bigint not null check (amount_micros > 0),
  pay_to           text not null,
  valid_before     timestamptz not null,
  -- Null where nobody was signed in.
  account_id       text collate "C" references accounts,
  operation        text not null,
  request_id       text not null,
  -- Of the whole request under its Idempotency-Key: the only one that this payment pays for.
  fingerprint      text not null,
  state            text not null check (state in ('reserved', 'settling', 'settled', 'spent',
                     'failed', 'owed', 'refunding', 'refunded', 'credited')),
  state_reason     text,
  -- What the payer signed, so that a facilitator can be asked again after a crash.
  payload          jsonb not null,
  txid             text,
  -- Until then the payment belongs to a call under way.
  leased_until     timestamptz not null,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  settled_at       timestamptz,
  unique (network, asset, payer, nonce)
) with (fillfactor = 70);

create index x402_payments_open on x402_payments (leased_until)
  where state in ('reserved', 'settling', 'settled', 'owed', 'refunding');
create index x402_payments_by_request on x402_payments (fingerprint);

-- What the relayer has signed. A nonce is its place in the relayer's order: it is taken and the
-- bytes are stored in one transaction, so that there is no gap that nothing could fill, and bytes
-- that are stored are sent until they are mined.
create table x402_transfers (
  network       text not null,
  relayer       text not null,
  nonce         bigint not null,
  payment_id    text collate "C" not null references x402_payments,
  purpose       text not null check (purpose in ('settlement', 'refund')),
  txid          text not null unique,
  raw           text not null,
  state         text not null default 'signed' check (state in ('signed', 'mined', 'reverted')),
  -- What the network took, in its own coin and as it stands in the books.
  fee_wei       numeric(78, 0),
  fee_micros    bigint,
  created_at    timestamptz not null,
  mined_at      timestamptz,
  primary key (network, relayer, nonce),
  check ((state = 'signed') = (mined_at is null))
);
create index x402_transfers_of_payment on x402_transfers (payment_id);
create index x402_transfers_open on x402_transfers (created_at) where state = 'signed';
