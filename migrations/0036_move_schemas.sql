-- A cell may be a schema of a database, which is moved without its neighbours. So nothing of the
-- whole database says that it is closed; its tables do, and nodes ask for their trigger.

-- Refuses writes of everyone, also of replication if asked to. Triggers of a statement are not
-- inherited, so partitions get their own.
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

-- The caller holds a lock on all tables.
create or replace procedure close_moved_database() language plpgsql as $$
begin
  call refuse_writes(including_replication => true);
  if current_schema() = 'public' then
    execute format('alter database %I set default_transaction_read_only = on', current_database());
  end if;
end
$$;
