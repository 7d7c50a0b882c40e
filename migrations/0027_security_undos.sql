-- Links in security e-mails that give an account back to its owner: they work once, for 72 hours.
-- The token itself is in the e-mail only; here it is a keyed hash.
create table security_undos (
  token_hash  text primary key,
  account_id  text collate "C" not null references accounts,
  -- The address that the e-mail went to: the account's own before the change.
  email       text not null,
  kind        text not null check (kind in ('two_factor_on', 'email_changed')),
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  used_at     timestamptz
);
create index security_undos_account on security_undos (account_id);
