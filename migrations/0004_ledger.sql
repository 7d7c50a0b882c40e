-- The ledger. Money is integer micro-dollars and moves only by rows of `movements`.
--
-- A movement debits one purse and credits another in one row, so half of it cannot be stored and
-- all entries sum to zero. Customer purses have a stored balance. External purses (chain, network,
-- fees, …) have none: one row that every movement updates would be a lock for all traffic. Their
-- balance is the sum of their entries.

-- A card's purse is one row with its balance, its holds and its usage of today and this month,
-- because a purchase changes all of them.
create domain purse_kind as text
  check (value in ('treasury', 'payout', 'card', 'receivable'));
create table purses (
  account_id          text collate "C" not null references accounts,
  kind                purse_kind not null,
  -- The card of a card's purse; empty for the others.
  owner_id            text collate "C" not null default '',
  balance_micros      bigint not null default 0,
  moved_at            timestamptz,
  held_micros         nonnegative not null default 0,
  -- The last UTC day with spending, and the amounts of that day and its month.
  spent_day           date,
  day_spent_micros    nonnegative not null default 0,
  month_spent_micros  nonnegative not null default 0,
  primary key (account_id, kind, owner_id),
  -- A debt is the receivable purse below zero; no other purse may be negative.
  check (case kind when 'receivable' then balance_micros <= 0 else balance_micros >= 0 end)
) with (fillfactor = 70);
call guard_table('purses', 'select, insert, update');

-- Partitioned by ID; the archive's file creates the partitions.
--
-- No foreign key: the purse of a movement has one, and a second check would lock the account's row
-- with every movement.
create table movements (
  account_id           text collate "C" not null,
  id                   text collate "C" not null,
  movement             text not null,
  from_kind            text not null,
  from_owner_id        text collate "C" not null default '',
  -- The balance of the purse after this movement; null for an external purse.
  from_balance_micros  bigint,
  to_kind              text not null,
  to_owner_id          text collate "C" not null default '',
  to_balance_micros    bigint,
  amount_micros        bigint not null check (amount_micros > 0),
  reference_type       text not null,
  reference_id         text not null,
  description          text not null,
  created_at           timestamptz not null,
  primary key (account_id, id),
  check (from_kind <> to_kind or from_owner_id <> to_owner_id)
) partition by range (id);
-- A page of the balance history is a range of this index.
create index movements_of_treasury on movements (account_id, id)
  where from_kind = 'treasury' or to_kind = 'treasury';
-- The sums of a statement are read from this index alone. Loads, holds and releases stay inside the
-- account and are not in it, so an authorization writes nothing here.
create index movements_of_statement on movements (account_id, id)
  include (movement, amount_micros)
  where (from_kind in ('treasury', 'card', 'hold')) <> (to_kind in ('treasury', 'card', 'hold'));
create trigger movements_append_only before update or delete or truncate on movements
  for each statement execute function refuse_change();
call guard_table('movements', 'select, insert');

-- Every purse on its own, as movements name them.
create view purse_balances as
  select account_id, kind, owner_id, balance_micros from purses
  union all
  select account_id, 'hold', owner_id, held_micros from purses where kind = 'card';

grant select on purse_balances to florin_service;
