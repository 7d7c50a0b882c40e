-- Cards. The number is sealed under a key outside the database and found by a keyed hash; the
-- security code is computed when it is needed and stored nowhere.

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
  -- Null: no limit of the holder's own; the programme's still holds. Zero blocks.
  per_transaction_micros  bigint check (per_transaction_micros >= 0),
  daily_micros            bigint check (daily_micros >= 0),
  monthly_micros          bigint check (monthly_micros >= 0),
  -- Null: every category or country; an empty list: none. What is denied wins.
  mcc_allow               text[],
  mcc_deny                text[],
  geo_allow               text[],
  geo_deny                text[],
  shipping                jsonb,
  replaces                text,
  replaced_by             text,
  frozen_by               text check (frozen_by in ('owner', 'agent', 'admin')),
  cancel_reason           text check (cancel_reason in
                            ('requested', 'replaced', 'lost', 'stolen', 'admin', 'expired')),
  frozen_at               timestamptz,
  cancelled_at            timestamptz,
  metadata                jsonb not null default '{}',
  version                 bigint not null default 1,
  created_at              timestamptz not null,
  updated_at              timestamptz not null,
  primary key (account_id, id),
  check ((status = 'cancelled') = (cancelled_at is not null)),
  check ((status = 'cancelled') = (cancel_reason is not null)),
  check ((type = 'physical') = (shipping is not null))
) with (fillfactor = 80);

-- What a card has spent, by UTC day. Approvals count on the day of the authorization, and what is
-- reversed or expires is given back to that same day; a month is the sum of its days.
create table card_spending (
  account_id    text collate "C" not null,
  card_id       text collate "C" not null,
  day           date not null,
  spent_micros  bigint not null default 0 check (spent_micros >= 0),
  primary key (account_id, card_id, day),
  foreign key (account_id, card_id) references cards
) with (fillfactor = 80);

-- Every time a number was shown, and the nonces that were used for it.
create table card_reveals (
  account_id   text collate "C" not null,
  card_id      text collate "C" not null,
  id           text collate "C" not null,
  nonce        text,
  revealed_at  timestamptz not null,
  primary key (account_id, card_id, id),
  unique (account_id, card_id, nonce),
  foreign key (account_id, card_id) references cards
);
