-- Credentials: sessions, API keys, OAuth grants and tokens, links in security emails, password
-- resets. A secret is stored as a keyed hash.

create table sessions (
  account_id    text collate "C" not null references accounts,
  id            text collate "C" not null,
  bearer_hash   text not null unique,
  ip            text not null,
  user_agent    text not null,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  ended_at      timestamptz,
  -- Null until the first call with the session's bearer.
  last_used_at  timestamptz,
  primary key (account_id, id)
);
create index sessions_open on sessions (account_id, id) where ended_at is null;
call guard_table('sessions', 'select, update');

create table api_keys (
  account_id    text collate "C" not null references accounts,
  id            text collate "C" not null,
  name          text,
  prefix        text not null,
  key_hash      text not null unique,
  status        text not null default 'active' check (status in ('active', 'revoked')),
  last_used_at  timestamptz,
  last_used_ip  text,
  created_at    timestamptz not null,
  revoked_at    timestamptz,
  primary key (account_id, id),
  check ((status = 'revoked') = (revoked_at is not null))
);
call guard_table('api_keys', 'select, insert, update');

-- One row per key, IP address and day: only the first use of a day is an audit entry.
create table api_key_uses (
  account_id  text collate "C" not null,
  key_id      text collate "C" not null,
  ip          text not null,
  day         date not null,
  primary key (account_id, key_id, ip, day)
);
call guard_table('api_key_uses');

-- Recent attempts at a password or code, by a hash of the account or address that was tried. Rows
-- exist even if there is no such account, so a lockout reveals nothing.
create table guesses (
  subject_hash  text primary key,
  guessed_at    timestamptz[] not null
);
call guard_table('guesses', 'select, insert, update, delete');

-- The times after another one. A function, because Citus refuses an insert with a subquery.
create function times_after(times timestamptz[], since timestamptz) returns timestamptz[]
language sql immutable parallel safe
  return array(select t from unnest(times) as t where t > since);
grant execute on function times_after to florin_service, florin_account;

-- A grant: the access that an account gave to a client, for all cards or some. The payload is the
-- authorization server's own record; calls are checked against the columns.
create table oauth_grants (
  account_id     text collate "C" not null references accounts,
  id             text collate "C" not null unique,
  client_id      text not null,
  client_name    text,
  payload        jsonb not null,
  -- The cards of the grant; null for all current and future cards.
  card_ids       text[],
  -- The actions allowed on those cards; null if card_ids is.
  card_actions   text[],
  last_used_at   timestamptz,
  last_used_ip   text,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  expires_at     timestamptz not null,
  revoked_at     timestamptz,
  -- The redirect URIs that the owner saw on the consent page. Errors are redirected only to these
  -- before the owner has seen the page.
  redirect_uris  text[] not null default '{}',
  primary key (account_id, id),
  check ((card_ids is null) = (card_actions is null))
);
create index oauth_grants_client on oauth_grants (client_id);
call guard_table('oauth_grants', 'select, update');

-- The other records of the authorization server: clients, codes, tokens, browser sessions, open
-- consent pages. The ID of a code or token is stored as a keyed hash.
create table oauth_payloads (
  model         text not null,
  id            text collate "C" not null,
  payload       jsonb not null,
  grant_id      text collate "C",
  uid           text,
  client_id     text,
  consumed_at   timestamptz,
  created_at    timestamptz not null,
  expires_at    timestamptz,
  -- Of a browser session or consent page: who signed in, and when.
  account_id    text collate "C",
  signed_in_at  timestamptz,
  primary key (model, id)
);
create index oauth_payloads_grant on oauth_payloads (grant_id) where grant_id is not null;
create index oauth_payloads_uid on oauth_payloads (uid) where uid is not null;
create index oauth_payloads_expiry on oauth_payloads (expires_at) where expires_at is not null;
create index oauth_payloads_client on oauth_payloads (client_id) where client_id is not null;
create index oauth_payloads_account on oauth_payloads (account_id) where account_id is not null;
call guard_table('oauth_payloads', 'select, delete');

-- Links in security emails that return an account to its owner. They work once, for 72 hours.
create table security_undos (
  token_hash  text primary key,
  account_id  text collate "C" not null references accounts,
  -- The address the email went to: the account's address before the change.
  email       text not null,
  kind        text not null check (kind in ('two_factor_on', 'email_changed')),
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  used_at     timestamptz
);
create index security_undos_account on security_undos (account_id);
create index security_undos_email on security_undos (email) where used_at is null;
call guard_table('security_undos', 'select, insert');

-- While an undo link of an account works, the address that it restores is reserved for the account:
-- a thief could otherwise open an account with it, and the owner's link would fail. The account
-- that has an address keeps it, and the directory has rows in cell 0 only.
--
-- An account's call may ask about other accounts only this, and gets only yes or no.
create function is_email_free(wanted text, wanted_by text, at timestamptz) returns boolean
language sql stable security definer
begin atomic
  select coalesce(
    (select id = wanted_by from accounts where email = wanted),
    not exists (select from security_undos
                 where email = wanted and account_id <> wanted_by
                   and used_at is null and expires_at > at)
    and not exists (select from directory_emails where email = wanted and cell <> 0));
end;
revoke execute on function is_email_free from public;
grant execute on function is_email_free to florin_service, florin_account;

-- Requests for a link that resets the password. A call stores only the address and does not look
-- for its account, so its response takes equally long whether or not there is one. A task creates
-- the link and deletes the row.
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
