-- Budgets of OAuth grants, what their clients moved out of the treasury, and the calls that the
-- owner must approve because they exceed a budget.

-- Only the owner sets a budget, on the consent page or in the panel; calls of an account read it.
create table budgets (
  account_id        text collate "C" not null,
  grant_id          text collate "C" not null,
  amount_micros     bigint not null check (amount_micros >= 0),
  period            text not null check (period in ('day', 'month', 'total')),
  -- A single call above this needs an approval, whatever is left of the budget.
  ask_above_micros  bigint check (ask_above_micros >= 0),
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  primary key (account_id, grant_id),
  foreign key (account_id, grant_id) references oauth_grants (account_id, id)
);
call guard_table('budgets', 'select');

-- One row per account and client: a client with several grants cannot use its budget twice. Its
-- lock serializes calls that move money and changes of a budget.
create table budget_usage (
  account_id    text collate "C" not null references accounts,
  client_id     text not null,
  -- The last UTC day with a charge, and the amounts of that day and its month. It never goes back,
  -- so nodes whose clocks differ slightly at midnight count in one order.
  day           date not null,
  day_micros    bigint not null default 0 check (day_micros >= 0),
  month_micros  bigint not null default 0 check (month_micros >= 0),
  -- Everything since the client was first granted access, or again after all its grants ended.
  total_micros  bigint not null default 0 check (total_micros >= 0),
  total_from    timestamptz not null,
  primary key (account_id, client_id)
);
call guard_table('budget_usage', 'select, insert, update');

-- One row per movement that a grant made out of the treasury, or back into it. An unload gives back
-- what the client loaded onto that card in the same day, month or since total_from, so its three
-- amounts can differ.
create table budget_charges (
  account_id    text collate "C" not null,
  movement_id   text collate "C" not null,
  client_id     text not null,
  grant_id      text collate "C" not null,
  card_id       text collate "C",
  approval_id   text collate "C",
  day           date not null,
  day_micros    bigint not null,
  month_micros  bigint not null,
  total_micros  bigint not null,
  created_at    timestamptz not null,
  primary key (account_id, movement_id)
);
create index budget_charges_of_client on budget_charges (account_id, client_id, day);
create index budget_charges_of_card on budget_charges (account_id, card_id, day)
  where card_id is not null;
create unique index budget_charges_of_approval on budget_charges (account_id, approval_id)
  where approval_id is not null;
create trigger budget_charges_append_only before update or delete or truncate on budget_charges
  for each statement execute function refuse_change();
call guard_table('budget_charges', 'select, insert');

-- A pending approval expires at expires_at, an approved one an hour after the decision; neither
-- needs a write. The fingerprint covers the operation and its input.
create table approvals (
  account_id     text collate "C" not null references accounts,
  id             text collate "C" not null,
  grant_id       text collate "C" not null,
  client_id      text not null,
  client_name    text,
  operation      text not null,
  fingerprint    text not null,
  summary        text not null,
  amount_micros  bigint not null check (amount_micros > 0),
  card_id        text collate "C",
  status         text not null default 'pending'
                   check (status in ('pending', 'approved', 'declined', 'expired', 'used')),
  created_at     timestamptz not null,
  expires_at     timestamptz not null,
  decided_at     timestamptz,
  used_at        timestamptz,
  updated_at     timestamptz not null,
  primary key (account_id, id),
  check ((status = 'used') = (used_at is not null)),
  check (status <> 'approved' or decided_at is not null)
);
create index approvals_open on approvals (account_id, grant_id, fingerprint)
  where status in ('pending', 'approved');
create index approvals_of_client on approvals (account_id, client_id, id);
call guard_table('approvals', 'select, insert, update');
