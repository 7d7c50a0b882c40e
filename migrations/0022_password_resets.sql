-- Password resets by email, and the last use of a session.

-- A call stores only the address and does not look for its account, so its response takes equally
-- long whether or not there is one. A task creates the link and deletes the row.
create table password_reset_requests (
  id            bigint generated always as identity primary key,
  email         text not null,
  ip            text not null,
  user_agent    text not null,
  request_id    text not null,
  requested_at  timestamptz not null
);
call guard_table('password_reset_requests');

-- The newest link of an account, by a keyed hash of its token. Using it deletes the row.
create table password_resets (
  account_id    text collate "C" primary key references accounts,
  token_hash    text not null unique,
  requested_at  timestamptz not null,
  expires_at    timestamptz not null
);
call guard_table('password_resets', 'select, delete');

-- Null until the first call with the session's bearer.
alter table sessions add column last_used_at timestamptz;
create index sessions_open on sessions (account_id, id) where ended_at is null;
