-- Operators and their actions.

-- A token is stored as a keyed hash and gives access to no account.
create table operator_tokens (
  id                  text collate "C" primary key,
  name                text not null,
  role                text not null check (role in ('viewer', 'support', 'risk', 'admin')),
  token_hash          text not null unique,
  last_used_at        timestamptz,
  created_at          timestamptz not null,
  revoked_at          timestamptz,
  expires_at          timestamptz not null,
  totp_secret_sealed  text,
  -- The time step of the last code that was used: each code works once.
  totp_step           bigint,
  -- Console sessions from before the current authenticator secret are over.
  totp_set_at         timestamptz
);
create unique index operator_tokens_named on operator_tokens (name) where revoked_at is null;
call guard_table('operator_tokens');

-- The token in the settings has no row of its own: its lifetime begins with its first use.
create table first_operator_tokens (
  token_hash     text primary key,
  first_used_at  timestamptz not null
);
call guard_table('first_operator_tokens');

create sequence operator_action_count maxvalue 1023 minvalue 0 start 0 cycle;
insert into numbers (sequence) values ('operator_action_count');
grant usage on sequence operator_action_count to florin_service;

-- Actions of operators are recorded in the cell of their account, and all cells make one list. So
-- their numbers begin with the time: milliseconds, then seven bits for the cell and ten for a
-- counter. They have 18 digits until the year 2211.
-- Not in one statement: Citus runs it on a shard, from where no other table can be read.
create function next_operator_action_id() returns bigint language plpgsql volatile as $$
declare
  in_cell bigint := (select number from cell);
  counted bigint := next_number('operator_action_count');
begin
  return (floor(extract(epoch from clock_timestamp()) * 1000)::bigint << 17)
       | (coalesce(in_cell, 0) << 10) | (counted & 1023);
end
$$;

-- Every action of an operator. If it concerns an account, the account's audit log has it too.
create table operator_actions (
  id             bigint primary key default next_operator_action_id(),
  operator_id    text not null,
  operator_name  text not null,
  role           text not null,
  action         text not null,
  resource_type  text,
  resource_id    text,
  account_id     text collate "C",
  -- The input as it was sent.
  input          jsonb not null,
  request_id     text not null,
  ip             text not null,
  created_at     timestamptz not null
);
create trigger operator_actions_append_only before update or delete or truncate on operator_actions
  for each statement execute function refuse_change();
call guard_table('operator_actions');
