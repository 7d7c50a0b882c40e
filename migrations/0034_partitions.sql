-- Partitions of events, movements and transactions by ID, one per month.
--
--   <table>_first    the rows from before there were partitions
--   <table>_2027_01  a month; several, if no partition was added in time
--   <table>_later    everything after the last month, so a write never lacks a partition
--
-- Keys begin with the account as before. Without a default partition, a page is read from one
-- partition after the other, and ends with the first that fills it.

-- These read the tables while they are in use. Of what follows, only the index takes longer than
-- milliseconds.
alter table events validate constraint first_partition_check;
alter table events validate constraint events_body_check;
alter table movements validate constraint first_partition_check;
alter table transactions validate constraint first_partition_check;

-- A page of declined purchases is a range of this index: an account has few of them, among
-- thousands of others.
create index transactions_declined on transactions (account_id, id) where status = 'declined';

-- A foreign key would refuse to detach a month with a disputed purchase. Nobody may delete a
-- transaction, so it is enough to check new disputes.
alter table disputes drop constraint disputes_account_id_transaction_id_fkey;
create function require_disputed_transaction() returns trigger language plpgsql as $$
begin
  perform from transactions where account_id = new.account_id and id = new.transaction_id;
  if not found then
    raise exception 'the transaction % does not exist', new.transaction_id
      using errcode = 'foreign_key_violation', table = 'disputes';
  end if;
  return new;
end
$$;
create trigger disputes_of_transactions
  before insert or update of account_id, transaction_id on disputes
  for each row execute function require_disputed_transaction();

-- Makes a table the first partition of a new one with its name, columns, checks and indexes.
create procedure partition_by_id(partitioned name) language plpgsql as $$
declare
  first    name := partitioned || '_first';
  until    text;
  indexed  record;
begin
  select substring(pg_get_constraintdef(oid) from $re$'([^']+)'$re$) into until
    from pg_constraint where conrelid = partitioned::regclass and conname = 'first_partition_check';
  execute format('alter table %I rename to %I', partitioned, first);
  execute format('create table %I (like %I including defaults including constraints)
    partition by range (id)', partitioned, first);
  execute format('alter table %I drop constraint first_partition_check', partitioned);
  for indexed in
    select c.relname as name, i.indisprimary as is_primary, pg_get_indexdef(c.oid) as definition
      from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = first::regclass
  loop
    execute format('alter index %I rename to %I', indexed.name,
      replace(indexed.name, partitioned, first));
    if indexed.is_primary then
      execute format('alter table %I add primary key (account_id, id)', partitioned);
    else
      execute regexp_replace(indexed.definition, ' ON \S+ USING ',
        format(' ON %I USING ', partitioned));
    end if;
  end loop;
  execute format('alter table %I attach partition %I for values from (minvalue) to (%L)',
    partitioned, first, until);
  execute format('create table %I partition of %I for values from (%L) to (maxvalue)',
    partitioned || '_later', partitioned, until);
  execute format('alter table %I drop constraint first_partition_check', first);
  execute format('revoke all on %I from florin_service, florin_account', first);
end
$$;
call partition_by_id('events');
call partition_by_id('movements');
call partition_by_id('transactions');
drop procedure partition_by_id;
alter table transactions_later set (fillfactor = 80);

create trigger events_append_only before update or truncate on events
  for each statement execute function refuse_change();
create trigger movements_append_only before update or delete or truncate on movements
  for each statement execute function refuse_change();
create trigger events_append_only before update or truncate on events_later
  for each statement execute function refuse_change();
create trigger movements_append_only before update or delete or truncate on movements_later
  for each statement execute function refuse_change();

call guard_table('events', 'select, insert');
call guard_table('movements', 'select, insert');
call guard_table('transactions', 'select, update');
revoke delete on transactions from florin_service;

create or replace view entries as
  select account_id, id as movement_id, movement, from_kind as kind, from_owner_id as owner_id,
         -amount_micros as amount_micros, from_balance_micros as balance_micros, created_at
    from movements
  union all
  select account_id, id, movement, to_kind, to_owner_id, amount_micros, to_balance_micros,
         created_at
    from movements;

-- The partitions of a table with their bounds: null for the first and the last one.
create function partitions_of(partitioned regclass)
  returns table (partition regclass, lower_id text, upper_id text) language sql stable
begin atomic
  select c.oid::regclass,
         substring(pg_get_expr(c.relpartbound, c.oid) from $re$FROM \('([^']+)'\)$re$),
         substring(pg_get_expr(c.relpartbound, c.oid) from $re$TO \('([^']+)'\)$re$)
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent = partitioned;
end;

-- The month in which an ID was made: the inverse of id_time.
create function id_month(id text) returns timestamp language sql immutable
begin atomic
  select date_trunc('month', to_timestamp(sum(digit * 32::numeric ^ (10 - place)) / 1000)
                               at time zone 'UTC')
    from (select place, strpos('0123456789abcdefghjkmnpqrstvwxyz',
                               substr(split_part(id, '_', 2), place, 1)) - 1 as digit
            from generate_series(1, 10) as place) digits;
end;

create procedure create_partition(partitioned regclass, suffix text, bounds text, options text)
language plpgsql as $$
declare
  made     name := (select relname from pg_class where oid = partitioned) || '_' || suffix;
  guarding text;
begin
  execute format('create table %I partition of %s for values %s %s', made, partitioned, bounds,
    options);
  -- Triggers of a statement are not inherited.
  for guarding in
    select pg_get_triggerdef(oid) from pg_trigger
     where tgrelid = partitioned and tgfoid = 'refuse_change'::regproc
  loop
    execute regexp_replace(guarding, ' ON \S+ ', format(' ON %I ', made));
  end loop;
end
$$;
revoke execute on procedure create_partition from public;

-- The bounds of a partition: the IDs of these months, with the prefix of an ID.
create function month_bounds(like_id text, month timestamp, until timestamp) returns text
language sql stable
begin atomic
  select format('from (%L) to (%s)',
    split_part(like_id, '_', 1) || '_' || id_time(month at time zone 'UTC'),
    coalesce(quote_literal(split_part(like_id, '_', 1) || '_' ||
                           id_time(until at time zone 'UTC')), 'maxvalue'));
end;

-- Adds the partitions of this month and the next. Rows that already came into <table>_later stay
-- where they are: it becomes the partition of their months. Null if the lock was not free soon: the
-- next run tries again, and until then rows go to <table>_later.
create function add_partitions(partitioned regclass, at timestamptz) returns integer
language plpgsql security definer set search_path from current set lock_timeout = '200ms' as $$
declare
  this_month timestamp := date_trunc('month', at at time zone 'UTC');
  later      regclass;
  first_id   text;
  last_id    text;
  month      timestamp;
  until      timestamp;
  options    text;
  added      integer := 0;
begin
  select partition, lower_id into later, first_id
    from partitions_of(partitioned) where upper_id is null;
  month := id_month(first_id);
  if month > this_month + interval '1 month' then return 0; end if;

  execute format('alter table %s detach partition %s', partitioned, later);
  execute format('select max(id) from %s', later) into last_id;
  select coalesce('with (' || array_to_string(reloptions, ', ') || ')', '') into options
    from pg_class where oid = later;
  if last_id is null then
    execute format('drop table %s', later);
  else
    until := greatest(id_month(last_id), this_month) + interval '1 month';
    execute format('alter table %s rename to %I', later,
      regexp_replace(later::text, '_later$', to_char(month, '_YYYY_MM')));
    execute format('alter table %s attach partition %s for values %s', partitioned, later,
      month_bounds(first_id, month, until));
    month := until;
    added := 1;
  end if;
  while month < this_month + interval '2 months' loop
    -- Months in which nobody wrote share a partition.
    until := greatest(month + interval '1 month', this_month);
    call create_partition(partitioned, to_char(month, 'YYYY_MM'),
      month_bounds(first_id, month, until), options);
    month := until;
    added := added + 1;
  end loop;
  call create_partition(partitioned, 'later', month_bounds(first_id, month, null), options);
  return added;
exception when lock_not_available then
  return null;
end
$$;
revoke execute on function add_partitions from public;
grant execute on function add_partitions to florin_service;
grant execute on function partitions_of, id_month to florin_service;

-- A copy on another server has partitions of its own, so a closed database needs the trigger on
-- partitioned tables too.
create or replace procedure close_moved_database() language plpgsql as $$
declare
  closed regclass;
begin
  for closed in
    select oid from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
       and relname not in ('cell_move', 'migrations')
  loop
    execute format('create trigger moved before insert or update or delete or truncate on %s
      execute function refuse_moved()', closed);
    execute format('alter table %s enable always trigger moved', closed);
  end loop;
  execute format('alter database %I set default_transaction_read_only = on', current_database());
end
$$;
