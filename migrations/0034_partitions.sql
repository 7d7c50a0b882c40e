-- Partitions of events, movements and transactions by ID, one per month.
--
--   <table>_first    the rows from before there were partitions
--   <table>_2027_01  a month; several, if no partition was added in time
--   <table>_later    everything after the last month, so a write never lacks a partition
--
-- Keys begin with the account as before. Without a default partition, a page is read from one
-- partition after the other, and ends with the first that fills it.
-- formerly: a7f723ff55af791af150d6a5ed0312040ae83e76ea68475423b46a62f1e21ce7

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

-- Each table becomes the first partition of a new one with its name, columns, checks and indexes.
-- A procedure can't create the new tables: Citus would not distribute them.
alter table events rename to events_first;
alter table movements rename to movements_first;
alter table transactions rename to transactions_first;
create table events (like events_first including defaults including constraints)
  partition by range (id);
create table movements (like movements_first including defaults including constraints)
  partition by range (id);
create table transactions (like transactions_first including defaults including constraints)
  partition by range (id);
alter table events drop constraint first_partition_check;
alter table movements drop constraint first_partition_check;
alter table transactions drop constraint first_partition_check;
create trigger events_append_only before update or truncate on events
  for each statement execute function refuse_change();
create trigger movements_append_only before update or delete or truncate on movements
  for each statement execute function refuse_change();

create procedure partition_by_id(partitioned name) language plpgsql as $$
declare
  first    name := partitioned || '_first';
  until    text;
  options  text;
  indexed  record;
begin
  select substring(pg_get_constraintdef(oid) from $re$'([^']+)'$re$) into until
    from pg_constraint where conrelid = first::regclass and conname = 'first_partition_check';
  select coalesce('with (' || array_to_string(reloptions, ', ') || ')', '') into options
    from pg_class where oid = first::regclass;
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
  if exists (select from pg_extension where extname = 'citus') then
    -- Checks that were added later have other names on the workers, so ATTACH refuses the table.
    execute format('alter table %I rename to %I', first, partitioned || '_former');
    call create_partition(partitioned::regclass, 'first', format('from (minvalue) to (%L)', until),
      options);
    execute format('insert into %I select * from %I', first, partitioned || '_former');
  else
    execute format('alter table %I attach partition %I for values from (minvalue) to (%L)',
      partitioned, first, until);
    execute format('alter table %I drop constraint first_partition_check', first);
    execute format('revoke all on %I from florin_service, florin_account', first);
  end if;
  call create_partition(partitioned::regclass, 'later', format('from (%L) to (maxvalue)', until),
    options);
end
$$;
call partition_by_id('events');
call partition_by_id('movements');
call partition_by_id('transactions');
drop procedure partition_by_id;

call guard_table('events', 'select, insert');
call guard_table('movements', 'select, insert');
call guard_table('transactions', 'select, update');
revoke delete on transactions from florin_service;

-- Rows before a floor have left the database. Events are deleted; movements and transactions, the
-- history of money, are in an archive. Proofs and reports don't look for them.
create table history_floors (
  history  text primary key check (history in ('events', 'money')),
  -- The time that the first ID behind the floor begins with, and the same as a timestamp.
  floor    text collate "C" not null default '',
  since    timestamptz not null default '-infinity'
);
insert into history_floors (history) values ('events'), ('money');
call guard_table('history_floors', 'select');

-- The sum of the archived entries of each purse: the proofs of balances begin with it.
create table archived_sums (
  account_id     text collate "C" not null,
  kind           text not null,
  owner_id       text collate "C" not null,
  amount_micros  bigint not null,
  primary key (account_id, kind, owner_id)
);
call guard_table('archived_sums');

-- The archived part of the amounts paid to each card network, by movements and by transactions.
create table archived_networks (
  network              text primary key,
  ledger_micros        bigint not null,
  transactions_micros  bigint not null
);
call guard_table('archived_networks');

-- The numbers of deleted events: the proof of sequences begins with them.
create table retired_sequences (
  account_id  text collate "C" primary key,
  numbers     int8multirange not null
);
call guard_table('retired_sequences');

-- Archives of movements and transactions.
--
--   leaving   the months are detached; their tables are dropped when the files have all their rows
--   archived  only the files have them
create table archives (
  -- The floor of money behind it.
  floor        text collate "C" primary key,
  state        text not null check (state in ('leaving', 'archived')),
  -- Detached tables by the table they were part of.
  detached     jsonb not null,
  -- Of the manifest; the next archive names it, so none can be left out or replaced.
  sha256       text,
  archived_at  timestamptz
);
call guard_table('archives');

create or replace view entries as
  select account_id, id as movement_id, movement, from_kind as kind, from_owner_id as owner_id,
         -amount_micros as amount_micros, from_balance_micros as balance_micros, created_at
    from movements
  union all
  select account_id, id, movement, to_kind, to_owner_id, amount_micros, to_balance_micros,
         created_at
    from movements
  union all
  select account_id, null, 'archived', kind, owner_id, amount_micros, null, null
    from archived_sums;

-- Exist only on Citus; the view used one of them until here.
drop table if exists events_former, movements_former, transactions_former;

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

-- Deletes the months of events before a time, and returns how many partitions those were. Null if
-- the table was busy. Nothing is deleted while an event waits to be sent, or is being copied to
-- another server.
create function retire_events(before timestamptz) returns integer
language plpgsql security definer set search_path from current set lock_timeout = '200ms' as $$
declare
  bound   text;
  retired record;
  dropped integer := 0;
begin
  select max(upper_id collate "C") into bound from partitions_of('events')
   where upper_id <= 'evt_' || id_time(before) collate "C"
     and upper_id > 'evt_' || (select floor from history_floors where history = 'events');
  if bound is null or exists (select from cell_move)
     or exists (select from outbox where event_id < bound)
     or exists (select from deliveries where event_id < bound) then
    return 0;
  end if;
  for retired in select partition from partitions_of('events') where upper_id <= bound collate "C"
  loop
    execute format('insert into retired_sequences as r (account_id, numbers)
      select account_id, range_agg(int8range(sequence, sequence, ''[]'')) from %s
       where sequence is not null group by account_id
          on conflict (account_id) do update set numbers = r.numbers + excluded.numbers',
      retired.partition);
    dropped := dropped + 1;
  end loop;
  for retired in select partition from partitions_of('events') where upper_id <= bound collate "C"
  loop
    execute format('alter table events detach partition %s', retired.partition);
    execute format('drop table %s', retired.partition);
  end loop;
  call create_partition('events', 'first', format('from (minvalue) to (%L)', bound), '');
  update history_floors
     set floor = split_part(bound, '_', 2), since = id_month(bound) at time zone 'UTC'
   where history = 'events';
  return dropped;
exception when lock_not_available then
  return null;
end
$$;
revoke execute on function retire_events from public;
grant execute on function retire_events to florin_service;

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
