-- What agents are allowed, and the sessions of the agent-tool server.

-- A grant is what one account allowed one client, for all cards or for some. Its payload is the
-- authorization server's own record of it; the columns are what every call is judged by.
create table oauth_grants (
  account_id    text collate "C" not null references accounts,
  id            text collate "C" not null unique,
  client_id     text not null,
  client_name   text,
  payload       jsonb not null,
  -- The only cards the grant is for; null: all of them, also those to come.
  card_ids      text[],
  -- What may be done with those cards; null where there is no such restriction.
  card_actions  text[],
  last_used_at  timestamptz,
  last_used_ip  text,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  expires_at    timestamptz not null,
  revoked_at    timestamptz,
  primary key (account_id, id),
  check ((card_ids is null) = (card_actions is null))
);
create index oauth_grants_client on oauth_grants (client_id);

-- Everything else the authorization server keeps: clients, codes, tokens, sign-in pages under way.
-- The id of whatever opens something is stored as a keyed hash only.
create table oauth_payloads (
  model        text not null,
  id           text collate "C" not null,
  payload      jsonb not null,
  grant_id     text collate "C",
  uid          text,
  client_id    text,
  consumed_at  timestamptz,
  created_at   timestamptz not null,
  expires_at   timestamptz,
  primary key (model, id)
);
create index oauth_payloads_grant on oauth_payloads (grant_id) where grant_id is not null;
create index oauth_payloads_uid on oauth_payloads (uid) where uid is not null;
create index oauth_payloads_expiry on oauth_payloads (expires_at) where expires_at is not null;
create index oauth_payloads_client on oauth_payloads (client_id) where client_id is not null;

-- Sessions of the agent-tool server, for clients that want one. A session opens nothing by itself.
create table mcp_sessions (
  id_hash     text primary key,
  account_id  text collate "C" not null references accounts,
  credential  text not null,
  expires_at  timestamptz not null
);
create index mcp_sessions_expiry on mcp_sessions (expires_at);
