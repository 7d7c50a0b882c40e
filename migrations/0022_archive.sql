-- Partitions of events, movements and transactions by ID, and what is kept of months that were
-- removed.
--
--   <table>_first    the rows before the first month
--   <table>_2027_01  one month, or several if partitions were not added in time
--   <table>_later    everything after the last month, so a write never lacks a partition
--
-- There is no default partition, so PostgreSQL reads partitions in order and stops once a page is
-- full.

-- Rows before a floor have left the database. Events are deleted; movements and transactions, the
-- history of money, are in an archive. Proofs and reports don't look for them.
create table history_floors (
  history  text primary key check (history in ('events', 'money')),
  -- The time that the oldest kept IDs begin with, and the same as a timestamp.
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

-- The archived part of the amounts paid to each card network, according to movements and to
-- transactions.
create table archived_networks (
  network              text primary key,
  ledger_micros        bigint not null,
  transactions_micros  bigint not null
);
call guard_table('archived_networks');

-- The sequence numbers of deleted events: the proof of sequences begins with them.
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
  -- The floor of `money` once the archive is complete.
  floor        text collate "C" primary key,
  state        text not null check (state in ('leaving', 'archived')),
  -- The detached tables, by the table that they were part of.
  detached     jsonb not null,
  -- SHA-256 of the manifest. The next manifest has it, so none can be left out or replaced.
  sha256       text,
  archived_at  timestamptz
);
call guard_table('archives');

-- Both sides of every movement, for proofs and reports, and the sums of those that are archived.
create view entries as
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
grant select on entries to florin_service;

-- Citus refuses triggers unless the setting is on. It is safe here, because these triggers only
-- refuse changes. Plain PostgreSQL ignores the setting.
create procedure create_partition(partitioned regclass, suffix text, bounds text, options text)
language plpgsql as $$
declare
  made     name := (select relname from pg_class where oid = partitioned) || '_' || suffix;
  guarding text;
begin
  perform set_config('citus.enable_unsafe_triggers', 'on', true);
  execute format('create table %I partition of %s for values %s %s', made, partitioned, bounds,
    options);
  -- Statement-level triggers are not inherited.
  for guarding in
    select pg_get_triggerdef(oid) from pg_trigger
     where tgrelid = partitioned and tgfoid = 'refuse_change'::regproc
  loop
    execute regexp_replace(guarding, ' ON \S+ ', format(' ON %I ', made));
  end loop;
end
$$;
revoke execute on procedure create_partition from public;

-- The partitions of a table with their bounds: the first has no lower_id, the last no upper_id.
create function partitions_of(partitioned regclass)
  returns table (partition regclass, lower_id text, upper_id text) language sql stable
begin atomic
  select c.oid::regclass,
         substring(pg_get_expr(c.relpartbound, c.oid) from $re$FROM \('([^']+)'\)$re$),
         substring(pg_get_expr(c.relpartbound, c.oid) from $re$TO \('([^']+)'\)$re$)
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent = partitioned;
end;

-- The month in which an ID was made.
create function id_month(id text) returns timestamp language sql immutable
begin atomic
  select date_trunc('month', to_timestamp(sum(digit * 32::numeric ^ (10 - place)) / 1000)
                               at time zone 'UTC')
    from (select place, strpos('0123456789abcdefghjkmnpqrstvwxyz',
                               substr(split_part(id, '_', 2), place, 1)) - 1 as digit
            from generate_series(1, 10) as place) digits;
end;

-- The bounds of a partition: the IDs of these months, with the prefix of like_id. Without `until`,
-- it has no end.
create function month_bounds(like_id text, month timestamp, until timestamp) returns text
language sql stable
begin atomic
  select format('from (%L) to (%s)',
    split_part(like_id, '_', 1) || '_' || id_time(month at time zone 'UTC'),
    coalesce(quote_literal(split_part(like_id, '_', 1) || '_' ||
                           id_time(until at time zone 'UTC')), 'maxvalue'));
end;
grant execute on function partitions_of, id_month to florin_service;

-- A new database begins with two partitions. The border is in the future, so the first months of
-- the program share one.
do $$
declare
  until       timestamp := date_trunc('month', now() at time zone 'UTC') + interval '2 months';
  partitioned record;
  border      text;
begin
  for partitioned in
    -- Transactions are updated, so their pages keep free space.
    select *
      from (values ('events', 'evt', ''), ('movements', 'bal', ''),
                   ('transactions', 'txn', 'with (fillfactor = 80)')) as t (name, prefix, options)
  loop
    border := partitioned.prefix || '_' || id_time(until at time zone 'UTC');
    call create_partition(partitioned.name::regclass, 'first',
      format('from (minvalue) to (%L)', border), partitioned.options);
    call create_partition(partitioned.name::regclass, 'later',
      format('from (%L) to (maxvalue)', border), partitioned.options);
  end loop;
end
$$;

-- On Citus, only the coordinator can change tables, and nodes are connected to the worker that has
-- their cell. There, functions that change partitions call themselves on the coordinator.
create function is_citus_worker() returns boolean language plpgsql stable as $$
begin
  if not exists (select from pg_extension where extname = 'citus') then return false; end if;
  return not citus_is_coordinator();
end
$$;

-- Calls a function of this schema on the coordinator, in a transaction of its own.
create function call_coordinator(function_call text) returns integer language plpgsql as $$
declare
  response record;
begin
  select * into response
    from run_command_on_coordinator(format('select %I.%s', current_schema(), function_call));
  if response.success is not true then
    raise exception 'the coordinator refused %: %', function_call, response.result;
  end if;
  return nullif(response.result, '')::integer;
end
$$;
revoke execute on function call_coordinator from public;

-- While a statement waits for the lock of a table, all later ones on that table wait too. Citus
-- sends the time limit to workers only if it is set like this, in a procedure.
create procedure limit_lock_waits() language plpgsql as $$
begin
  set local citus.propagate_set_commands = 'local';
  set local lock_timeout = '200ms';
end
$$;

-- Adds the partitions of this month and the next. Rows that already came into <table>_later stay
-- where they are: it becomes the partition of their months. Null if the lock
-- was not free in time: the next run tries again, and until then rows go to <table>_later.
create function add_partitions_here(partitioned regclass, at timestamptz) returns integer
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

create function add_partitions(partitioned regclass, at timestamptz) returns integer
language plpgsql security definer set search_path from current as $$
begin
  if is_citus_worker() then
    return call_coordinator(format('add_partitions(%L, %L)',
      (select format('%I.%I', relnamespace::regnamespace, relname)
         from pg_class where oid = partitioned), at));
  end if;
  call limit_lock_waits();
  return add_partitions_here(partitioned, at);
end
$$;
revoke execute on function add_partitions_here, add_partitions from public;
grant execute on function add_partitions_here, add_partitions to florin_service;

-- Deletes the months of events before a time, and returns how many partitions those were. Null if
-- the table was busy. Nothing is deleted while an event waits to be sent, or is being copied to
-- another server.
create function retire_events_here(before timestamptz) returns integer
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

create function retire_events(before timestamptz) returns integer
language plpgsql security definer set search_path from current as $$
begin
  if is_citus_worker() then return call_coordinator(format('retire_events(%L)', before)); end if;
  call limit_lock_waits();
  return retire_events_here(before);
end
$$;
revoke execute on function retire_events_here, retire_events from public;
grant execute on function retire_events_here, retire_events to florin_service;
