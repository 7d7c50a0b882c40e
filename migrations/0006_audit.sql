-- The audit log: one hash chain per account. The end of each chain is in account_sequences.

create table audit_entries (
  account_id     text collate "C" not null references accounts,
  id             text collate "C" not null,
  position       bigint not null,
  action         text not null,
  actor_type     text not null check (
                   actor_type in ('session', 'api_key', 'oauth_client', 'system', 'operator')),
  actor_id       text,
  actor_name     text,
  operation      text,
  result         text not null check (result in ('success', 'denied', 'failure')),
  resource_type  text,
  resource_id    text,
  ip             text,
  user_agent     text,
  request_id     text,
  created_at     timestamptz not null,
  prev_hash      text not null,
  hash           text not null,
  primary key (account_id, id),
  unique (account_id, position)
);
create trigger audit_entries_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_change();
call guard_table('audit_entries', 'select, insert');
