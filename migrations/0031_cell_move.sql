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

-- Refuses writes from here on: of new connections because they are read-only, and of those that are
-- open by a trigger on every table, whoever they act as. The caller holds a lock on all tables.
create procedure close_moved_database() language plpgsql as $$
declare
  closed regclass;
begin
  for closed in
    select oid from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'r'
       and relname not in ('cell_move', 'migrations')
  loop
    execute format('create trigger moved before insert or update or delete or truncate on %s
      execute function refuse_moved()', closed);
    execute format('alter table %s enable always trigger moved', closed);
  end loop;
  execute format('alter database %I set default_transaction_read_only = on', current_database());
end
$$;
revoke execute on procedure close_moved_database from public;
