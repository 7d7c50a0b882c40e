-- On Citus, only the coordinator can change tables, and nodes are connected to the worker that has
-- their cell. There, functions that change partitions call themselves on the coordinator.

-- Citus refuses triggers unless this is set. Those of partitions only refuse changes. PostgreSQL
-- alone ignores the setting.
create or replace procedure create_partition(
  partitioned regclass, suffix text, bounds text, options text)
language plpgsql as $$
declare
  made     name := (select relname from pg_class where oid = partitioned) || '_' || suffix;
  guarding text;
begin
  perform set_config('citus.enable_unsafe_triggers', 'on', true);
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

-- A worker that waits for the lock of a table blocks all other statements on it. Citus sends it the
-- time limit only if it is set like this, in a procedure.
create procedure limit_lock_waits() language plpgsql as $$
begin
  set local citus.propagate_set_commands = 'local';
  set local lock_timeout = '200ms';
end
$$;

alter function add_partitions rename to add_partitions_here;
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
revoke execute on function add_partitions from public;
grant execute on function add_partitions to florin_service;

alter function retire_events rename to retire_events_here;
create function retire_events(before timestamptz) returns integer
language plpgsql security definer set search_path from current as $$
begin
  if is_citus_worker() then return call_coordinator(format('retire_events(%L)', before)); end if;
  call limit_lock_waits();
  return retire_events_here(before);
end
$$;
revoke execute on function retire_events from public;
grant execute on function retire_events to florin_service;

-- The times after another one. A function, because Citus refuses an insert with a subquery.
create function times_after(times timestamptz[], since timestamptz) returns timestamptz[]
language sql immutable parallel safe
  return array(select t from unnest(times) as t where t > since);
grant execute on function times_after to florin_service, florin_account;

-- A sequence is only on the coordinator of Citus, and a worker's part of it would begin at 2^48. So
-- rows of this table are the sequences there.
create table numbers (
  sequence  text primary key,
  last      bigint not null default -1
);
insert into numbers (sequence) values ('deposit_address_index'), ('operator_action_count');
call guard_table('numbers');

create function next_number(of_sequence text) returns bigint
language plpgsql security definer set search_path from current as $$
declare
  taken bigint;
begin
  if not exists (select from pg_extension where extname = 'citus') then
    return nextval(of_sequence::regclass);
  end if;
  update numbers set last = last + 1 where sequence = of_sequence returning last into taken;
  return taken;
end
$$;
revoke execute on function next_number from public;
grant execute on function next_number to florin_service, florin_account;

-- Skips this many numbers, and returns the one that is next.
create function skip_numbers(of_sequence text, count bigint) returns bigint
language plpgsql security definer set search_path from current as $$
declare
  following bigint := next_number(of_sequence) + count;
begin
  if not exists (select from pg_extension where extname = 'citus') then
    return setval(of_sequence::regclass, following, false);
  end if;
  update numbers set last = following - 1 where sequence = of_sequence;
  return following;
end
$$;
revoke execute on function skip_numbers from public;
grant execute on function skip_numbers to florin_service;

-- Not in one statement: Citus runs it on a shard, from where no other table can be read.
create or replace function next_operator_action_id() returns bigint language plpgsql volatile as $$
declare
  in_cell bigint := (select number from cell);
  counted bigint := next_number('operator_action_count');
begin
  return (floor(extract(epoch from clock_timestamp()) * 1000)::bigint << 17)
       | (coalesce(in_cell, 0) << 10) | (counted & 1023);
end
$$;
