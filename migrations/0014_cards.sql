-- Cards. The number is sealed with a key outside the database and found by a keyed hash. The
-- security code is computed when needed and never stored.

create table cards (
  account_id              text collate "C" not null references accounts,
  id                      text collate "C" not null,
  bin                     text not null,
  last4                   text not null,
  brand                   text not null check (brand in ('visa', 'mastercard')),
  type                    text not null check (type in ('virtual', 'physical')),
  status                  text not null default 'active'
                            check (status in ('active', 'frozen', 'cancelled')),
  name                    text,
  pan_sealed              text not null,
  pan_hash                text not null unique,
  exp_month               integer not null check (exp_month between 1 and 12),
  exp_year                integer not null,
  wallet                  jsonb not null,
  -- The cardholder's limits; null for none. The program's limits apply too. Zero blocks.
  per_transaction_micros  bigint check (per_transaction_micros >= 0),
  daily_micros            bigint check (daily_micros >= 0),
  monthly_micros          bigint check (monthly_micros >= 0),
  -- Null allows every category or country, an empty list none. Deny wins over allow.
  mcc_allow               text[],
  mcc_deny                text[],
  geo_allow               text[],
  geo_deny                text[],
  shipping                jsonb,
  replaces                text,
  replaced_by             text,
  frozen_by               text check (frozen_by in ('owner', 'agent', 'admin')),
  cancel_reason           text check (cancel_reason in
                            ('requested', 'replaced', 'lost', 'stolen', 'admin', 'expired',
                               'used')),
  frozen_at               timestamptz,
  cancelled_at            timestamptz,
  metadata                jsonb not null default '{}',
  version                 bigint not null default 1,
  created_at              timestamptz not null,
  updated_at              timestamptz not null,
  usage                   text not null default 'reusable'
                            check (usage in ('reusable', 'single_use', 'merchant_locked')),
  -- The merchant of a merchant_locked card; null until its first approved authorization.
  merchant_lock_name      text,
  merchant_lock_id        text,
  -- Later authorizations decline with card_expired.
  valid_until             timestamptz,
  -- Wrong security codes and expiry dates of the last day. Five of them block online payments.
  failed_at               timestamptz[] not null default '{}',
  -- The OAuth client that issued it; null for the owner, with a session or an API key. A
  -- replacement belongs to the issuer of the first card.
  client_id               text,
  primary key (account_id, id),
  check ((status = 'cancelled') = (cancelled_at is not null)),
  check ((status = 'cancelled') = (cancel_reason is not null)),
  check ((type = 'physical') = (shipping is not null)),
  check (merchant_lock_name is null or usage = 'merchant_locked'),
  check (merchant_lock_id is null or merchant_lock_name is not null),
  -- Only a single-use card is used up.
  check (cancel_reason is distinct from 'used' or usage = 'single_use')
) with (fillfactor = 80);
-- Searches of operators over all accounts.
create unique index cards_by_id on cards (id);
create index cards_by_last4 on cards (last4, id);
create index cards_to_ship on cards (id) where shipping is not null;
create index cards_of_client on cards (account_id, client_id, id) where client_id is not null;
call guard_table('cards', 'select, insert, update');

-- Every time a number was revealed, with the nonce of the request.
create table card_reveals (
  account_id   text collate "C" not null,
  card_id      text collate "C" not null,
  id           text collate "C" not null,
  nonce        text,
  revealed_at  timestamptz not null,
  primary key (account_id, card_id, id),
  foreign key (account_id, card_id) references cards
);
-- A nonce reveals one card of the account, once.
create unique index card_reveals_nonce on card_reveals (account_id, nonce) where nonce is not null;
call guard_table('card_reveals', 'select, insert');
