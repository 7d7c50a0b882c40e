-- Sessions of the MCP server, for clients that use them. A session gives no access by itself.

create table mcp_sessions (
  id_hash     text primary key,
  account_id  text collate "C" not null references accounts,
  credential  text not null,
  expires_at  timestamptz not null
);
create index mcp_sessions_expiry on mcp_sessions (expires_at);
call guard_table('mcp_sessions');
