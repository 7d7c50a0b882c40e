-- Held deposits that go back to their sender: an order to pay like a withdrawal, of the operator's
-- and not of the account's.

-- The deposit in suspense that an order sends back; null for what an account has asked for.
alter table withdrawals add column refund_of text;
create unique index withdrawals_refund on withdrawals (refund_of)
  where refund_of is not null and step <> 'failed';

-- On its way back it is still in suspense, and nobody can release it any more.
alter table chain_transfers drop constraint chain_transfers_state_check;
alter table chain_transfers add constraint chain_transfers_state_check
  check (state in ('credited', 'held', 'released', 'refunding', 'refunded'));
