-- The ledger. Money is whole micro-dollars and moves only by rows of `movements`.
--
-- A movement takes from one purse and gives to another in one row, so that it cannot be half
-- written and the whole always sums to zero. A customer's purses have a stored balance; the
-- world's (chain, network, fees, suspense, operator) have none, because one row that every
-- movement updates would be a lock that all traffic waits on: theirs is the sum of their entries.

create table purses (
  account_id      text collate "C" not null references accounts,
  kind            text not null
                    check (kind in ('treasury', 'payout', 'card', 'hold', 'receivable')),
  -- The card of a card's purses; empty for those that an account has once.
  owner_id        text collate "C" not null default '',
  balance_micros  bigint not null default 0,
  moved_at        timestamptz,
  primary key (account_id, kind, owner_id),
  -- The last word: what an account owes stands apart, and nothing else of its goes below zero.
  check (case kind when 'receivable' then balance_micros <= 0 else balance_micros >= 0 end)
) with (fillfactor = 70);

-- No foreign key: a movement of a customer's purse has its account by that purse, and checking it
-- again would write a lock onto the account's row with every movement.
create table movements (
  account_id           text collate "C" not null,
  id                   text collate "C" not null,
  movement             text not null,
  from_kind            text not null,
  from_owner_id        text collate "C" not null default '',
  -- The purse's balance after this movement; null for a purse of the world.
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
);

-- The balance history is the treasury's movements in order; each page is one range of this index.
create index movements_of_treasury on movements (account_id, id)
  where from_kind = 'treasury' or to_kind = 'treasury';

create trigger movements_append_only before update or delete or truncate on movements
  for each statement execute function refuse_change();

-- Both sides of every movement, for proofs and reports.
create view entries as
  select account_id, id as movement_id, movement, from_kind as kind, from_owner_id as owner_id,
         -amount_micros as amount_micros, from_balance_micros as balance_micros, created_at
    from movements
  union all
  select account_id, id, movement, to_kind, to_owner_id, amount_micros, to_balance_micros,
         created_at
    from movements;

-- The operator's kill switches, one a rail. While one is on, its operations answer 503 and move
-- nothing; deposits that arrive meanwhile wait in suspense.
create table kill_switches (
  rail        text primary key
                check (rail in ('topups', 'withdrawals', 'issuing', 'authorizations')),
  is_on       boolean not null default false,
  reason      text,
  changed_at  timestamptz
);
insert into kill_switches (rail) values
  ('topups'), ('withdrawals'), ('issuing'), ('authorizations');
