-- The directory of cells. A cell is a database with a share of the accounts; the directory is the
-- one of cell 0, and its tables stay empty in other cells.

-- The number of this database, written at its first start: a wrong URL must not mix two cells.
create table cell (
  is_only boolean primary key default true check (is_only),
  number  integer not null check (number between 0 and 127)
);
insert into cell (number) select 0 where exists (select from accounts);
call guard_table('cell');

-- Where new accounts go. The count is of accounts ever created: it only balances the cells.
create table directory_cells (
  number   integer primary key check (number between 0 and 127),
  state    text not null default 'open' check (state in ('open', 'closed')),
  accounts bigint not null default 0
);
call guard_table('directory_cells');

-- The cell of each email address, written before its account. An address that is not listed belongs
-- to cell 0, where all accounts were before there were several cells.
create table directory_emails (
  email      text primary key,
  cell       integer not null check (cell between 0 and 127),
  claimed_at timestamptz not null
);
call guard_table('directory_emails');
