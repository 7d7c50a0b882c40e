-- Statements: sums of the movements into and out of an account, by month.

-- The sums of a month are read from this index alone. Loads, holds and releases stay inside the
-- account and are not in it, so an authorization writes nothing here.
create index movements_of_statement on movements (account_id, id)
  include (movement, amount_micros)
  where (from_kind in ('treasury', 'card', 'hold')) <> (to_kind in ('treasury', 'card', 'hold'));
