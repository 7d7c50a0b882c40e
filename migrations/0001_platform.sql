-- Functions that every schema file uses, and the tables of the platform.
--
-- One file per room of src/domain creates its tables. Each table that belongs to an account has
-- account_id and begins its key with it, so the database can be distributed by account.
--
-- IDs are text with collation "C": they sort by creation time on any server.

-- Amounts and counters that are never negative. The tables that every purchase writes to limit the
-- values of a column by a domain, because PostgreSQL prepares the CHECKs of a table anew for each
-- statement, and those of a domain once per connection: a new purchase and its event take 60 µs
-- less of 220.
create domain nonnegative as bigint check (value >= 0);

-- Append-only tables have a trigger that calls this.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end
$$;

-- A statement that must change a fixed number of rows fails if it changes another number. A COMMIT
-- can therefore be sent right behind it.
create function require_count(touched bigint, wanted bigint) returns boolean language plpgsql as $$
begin
  if touched <> wanted then
    raise exception '% rows were touched instead of %', touched, wanted using errcode = 'FL001';
  end if;
  return true;
end
$$;

-- The first ten characters of the IDs made at a time, after their prefix. Proofs look up rows that
-- were written at about the same time as another row by the range of their IDs.
-- One expression without a subquery: PostgreSQL then puts it in the place of the call.
create function id_time(at timestamptz) returns text language sql stable parallel safe
  return
    substr('0123456789abcdefghjkmnpqrstvwxyz',
           ((floor(extract(epoch from at) * 1000)::bigint >> 45) & 31)::integer + 1, 1) ||
    substr('0123456789abcdefghjkmnpqrstvwxyz',
           ((floor(extract(epoch from at) * 1000)::bigint >> 40) & 31)::integer + 1, 1) ||
    substr('0123456789abcdefghjkmnpqrstvwxyz',
           ((floor(extract(epoch from at) * 1000)::bigint >> 35) & 31)::integer + 1, 1) ||
    substr('0123456789abcdefghjkmnpqrstvwxyz',
           ((floor(extract(epoch from at) * 1000)::bigint >> 30) & 31)::integer + 1, 1) ||
    substr('0123456789abcdefghjkmnpqrstvwxyz',
           ((floor(extract(epoch from at) * 1000)::bigint >> 25) & 31)::integer + 1, 1) ||
    substr('0123456789abcdefghjkmnpqrstvwxyz',
           ((floor(extract(epoch from at) * 1000)::bigint >> 20) & 31)::integer + 1, 1) ||
    substr('0123456789abcdefghjkmnpqrstvwxyz',
           ((floor(extract(epoch from at) * 1000)::bigint >> 15) & 31)::integer + 1, 1) ||
    substr('0123456789abcdefghjkmnpqrstvwxyz',
           ((floor(extract(epoch from at) * 1000)::bigint >> 10) & 31)::integer + 1, 1) ||
    substr('0123456789abcdefghjkmnpqrstvwxyz',
           ((floor(extract(epoch from at) * 1000)::bigint >> 5) & 31)::integer + 1, 1) ||
    substr('0123456789abcdefghjkmnpqrstvwxyz',
           ((floor(extract(epoch from at) * 1000)::bigint >> 0) & 31)::integer + 1, 1);

-- Database roles; migrate creates both before it applies the first file:
--
--   florin_service  the engine, tasks, operators, sign-in: all accounts. It owns no table, so it
--                   cannot drop or disable a trigger.
--   florin_account  calls of one account: only the rows of the account in florin.account_id
--
-- The login that migrates owns the tables. No policy applies to an owner, so pg_dump and later
-- migrations see every row.
--
-- Every table needs one call of guard_table; a test finds a missing one. `account_may` lists what
-- calls of an account may do with their rows, or with all rows of a table without accounts. Nobody
-- gets more than select and insert on an append-only table.
create procedure guard_table(
  guarded regclass, account_may text default '', account_column name default 'account_id')
language plpgsql as $$
declare
  is_append_only boolean := exists (
    select from pg_trigger where tgrelid = guarded and tgfoid = 'refuse_change'::regproc);
begin
  execute format('grant %s on %s to florin_service',
    case when is_append_only then 'select, insert' else 'select, insert, update, delete' end,
    guarded);
  if account_may <> '' then
    execute format('grant %s on %s to florin_account', account_may, guarded);
  end if;
  if exists (select from pg_attribute where attrelid = guarded and attname = account_column) then
    execute format('alter table %s enable row level security', guarded);
    execute format('create policy of_service on %s to florin_service using (true)', guarded);
    -- The subquery is evaluated once a statement, and the planner compares it with the account
    -- that the statement names itself: indexes are used as without the policy. Citus can't copy
    -- policies with a subquery to its workers.
    execute format('create policy of_account on %s to florin_account using (%I = %s)',
      guarded, account_column,
      case when exists (select from pg_extension where extname = 'citus')
           then 'current_setting(''florin.account_id'', true)'
           else '(select current_setting(''florin.account_id'', true))' end);
  end if;
end
$$;
revoke execute on procedure guard_table from public;

grant select on migrations to florin_service;

-- The offset of the service's clock, shared by all nodes. The sandbox can advance it.
create table clock (
  is_only    boolean primary key default true check (is_only),
  offset_ms  bigint not null default 0
);
insert into clock default values;
call guard_table('clock');

-- Tasks that run on one node at a time, and when they last finished.
create table task_runs (
  task        text primary key,
  node        text not null,
  finished_at timestamptz not null
);
call guard_table('task_runs');

-- A sequence is only on the coordinator of Citus, and a worker's part of it would begin at 2^48. So
-- a row of this table is the sequence there; a migration that creates a sequence also adds its row.
create table numbers (
  sequence  text primary key,
  last      bigint not null default -1
);
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
