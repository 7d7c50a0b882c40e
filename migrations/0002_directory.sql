-- The directory of cells. A cell is a database with a share of the accounts; the directory is the
-- one of cell 0, and its tables stay empty in other cells.

-- The number of this database, written at its first start: a wrong URL must not mix two cells.
create table cell (
  is_only boolean primary key default true check (is_only),
  number  integer not null check (number between 0 and 127)
);
call guard_table('cell');

-- Where new accounts go. The count is of accounts ever created: it only balances the cells.
create table directory_cells (
  number   integer primary key check (number between 0 and 127),
  state    text not null default 'open' check (state in ('open', 'closed')),
  accounts bigint not null default 0
);
call guard_table('directory_cells');

-- The cell of each email address, written before its account. An address that is not listed belongs
-- to cell 0.
create table directory_emails (
  email      text primary key,
  cell       integer not null check (cell between 0 and 127),
  claimed_at timestamptz not null
);
call guard_table('directory_emails');

-- The move of this database to another server, or from one. It is the only table besides migrations
-- that is not copied.
--
--   copying   another server gets a copy; url_sealed is its address
--   moved     the copy is in use, and this database is read-only
--   arriving  this database is a copy that is not in use yet; url_sealed is the address it is from
--   arrived   this copy is in use, and the move is not confirmed yet
create table cell_move (
  is_only             boolean primary key default true check (is_only),
  state               text not null check (state in ('copying', 'moved', 'arriving', 'arrived')),
  url_sealed          text not null,
  account_url_sealed  text
);
call guard_table('cell_move');

-- The error of a read-only database, on which nodes look for the new address.
create function refuse_moved() returns trigger language plpgsql as $$
begin
  raise exception 'this database was moved to another server' using errcode = '25006';
end
$$;

-- Refuses writes of everyone, also of replication if asked to. A cell may be a schema of a database
-- and is then moved without its neighbours, so the triggers of its tables say that it is closed:
-- nodes look for them. Triggers of a statement are not inherited: partitions get their own, and so
-- do partitioned tables, because a copy has other partitions.
create procedure refuse_writes(including_replication boolean) language plpgsql as $$
declare
  closed regclass;
begin
  for closed in
    select c.oid from pg_class c
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
       and relname not in ('cell_move', 'migrations')
       and not exists (select from pg_trigger where tgrelid = c.oid and tgname = 'moved')
  loop
    execute format('create trigger moved before insert or update or delete or truncate on %s
      execute function refuse_moved()', closed);
    if including_replication then
      execute format('alter table %s enable always trigger moved', closed);
    end if;
  end loop;
end
$$;
revoke execute on procedure refuse_writes from public;

create procedure allow_writes() language plpgsql as $$
declare
  opened regclass;
begin
  for opened in
    select tgrelid from pg_trigger t join pg_class c on c.oid = tgrelid
     where relnamespace = current_schema()::regnamespace and tgname = 'moved'
  loop
    execute format('drop trigger moved on %s', opened);
  end loop;
end
$$;
revoke execute on procedure allow_writes from public;

-- New connections to a database with one cell are read-only as well. The caller holds a lock on all
-- tables.
create procedure close_moved_database() language plpgsql as $$
begin
  call refuse_writes(including_replication => true);
  if current_schema() = 'public' then
    execute format('alter database %I set default_transaction_read_only = on', current_database());
  end if;
end
$$;
revoke execute on procedure close_moved_database from public;
