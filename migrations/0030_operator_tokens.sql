-- Operator tokens end by themselves and may ask for an authenticator code.
alter table operator_tokens
  add column expires_at          timestamptz,
  add column totp_secret_sealed  text,
  -- The time step of the last code that was used: a code works once.
  add column totp_step           bigint;
-- Those that exist get a whole term from now, so that an upgrade locks nobody out.
update operator_tokens set expires_at = now() + interval '90 days';
alter table operator_tokens alter column expires_at set not null;

-- The token of the settings has no row of its own: its term begins with its first use.
create table first_operator_tokens (
  token_hash     text primary key,
  first_used_at  timestamptz not null
);
