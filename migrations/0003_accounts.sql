-- Accounts, their recovery codes, and notes about them.

create table accounts (
  id                         text collate "C" primary key,
  email                      text not null unique,
  password_hash              text not null,
  status                     text not null default 'active'
                               check (status in ('active', 'suspended')),
  notifications              jsonb not null,
  rate_profile               text check (rate_profile in ('default', 'conservative')),
  spend_limits               jsonb not null default '{}',
  totp_status                text not null default 'disabled'
                               check (totp_status in ('disabled', 'pending', 'enabled')),
  totp_secret_sealed         text,
  -- The time step of the last code that was used: each code works once.
  totp_last_step             bigint not null default 0,
  version                    bigint not null default 1,
  created_at                 timestamptz not null,
  updated_at                 timestamptz not null,
  -- The last change of password, email or two-factor authentication: it starts the withdrawal
  -- cool-down.
  credentials_changed_at     timestamptz,
  -- Browser sessions of the authorization server that signed in before this are over. A deleted
  -- session row can be saved once more by a request that read it before.
  browser_sessions_ended_at  timestamptz,
  check ((totp_status = 'disabled') = (totp_secret_sealed is null))
);
create index accounts_with_threshold on accounts (id)
  where notifications ->> 'low_balance_threshold_usd' is not null;
call guard_table('accounts', 'select, update', 'id');

create table recovery_codes (
  account_id  text collate "C" not null references accounts,
  code_hash   text not null,
  primary key (account_id, code_hash)
);
call guard_table('recovery_codes', 'select, insert, delete');

-- Notes of operators about an account. Customers never see them.
create table account_notes (
  account_id     text collate "C" not null references accounts,
  id             text collate "C" not null,
  operator_id    text not null,
  operator_name  text not null,
  body           text not null,
  created_at     timestamptz not null,
  primary key (account_id, id)
);
create trigger account_notes_append_only before update or delete or truncate on account_notes
  for each statement execute function refuse_change();
call guard_table('account_notes');
