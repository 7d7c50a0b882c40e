-- Service around the card: disputes and their evidence, tickets, and those who run the programme.

-- A contested capture. It is filed, answered and closed under the lock of its card, like everything
-- that changes a transaction.
create table disputes (
  account_id       text collate "C" not null references accounts,
  id               text collate "C" not null,
  transaction_id   text collate "C" not null,
  card_id          text collate "C" not null,
  amount_micros    bigint not null check (amount_micros > 0),
  reason           text not null,
  explanation      text not null,
  status           text not null default 'open' check (status in ('open', 'answered', 'closed')),
  outcome          text check (outcome in ('won', 'lost')),
  response_text    text,
  response_at      timestamptz,
  evidence_due_at  timestamptz not null,
  -- How far the holder has been told of that deadline.
  evidence_step    text not null default 'waiting'
                     check (evidence_step in ('waiting', 'reminded', 'passed')),
  metadata         jsonb not null default '{}',
  version          bigint not null default 1,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  resolved_at      timestamptz,
  primary key (account_id, id),
  foreign key (account_id, transaction_id) references transactions,
  check ((status = 'closed') = (outcome is not null)),
  check ((status = 'closed') = (resolved_at is not null)),
  check ((response_text is null) = (response_at is null))
) with (fillfactor = 80);

-- The last word on "one open dispute per capture".
create unique index disputes_open on disputes (account_id, transaction_id)
  where status <> 'closed';
create index disputes_of_transaction on disputes (account_id, transaction_id);
create index disputes_by_id on disputes (id);
create index disputes_due on disputes (evidence_due_at)
  where status <> 'closed' and evidence_step <> 'passed';

-- A file's bytes are stored under its own id before this row is written, so a row always has its
-- file; a file without a row is an orphan, which a task removes.
create table evidence (
  account_id    text collate "C" not null,
  dispute_id    text collate "C" not null,
  id            text collate "C" not null,
  kind          text not null check (kind in ('receipt', 'screenshot', 'note', 'other')),
  file_name     text,
  content_type  text,
  size_bytes    bigint,
  sha256        text,
  note          text,
  created_at    timestamptz not null,
  primary key (account_id, dispute_id, id),
  foreign key (account_id, dispute_id) references disputes,
  check ((content_type is null) = (sha256 is null) and (size_bytes is null) = (sha256 is null)),
  check (sha256 is not null or note is not null)
);
create unique index evidence_by_id on evidence (id);
create trigger evidence_append_only before update or delete or truncate on evidence
  for each statement execute function refuse_change();

create table tickets (
  account_id      text collate "C" not null references accounts,
  id              text collate "C" not null,
  subject         text not null,
  category        text not null
                    check (category in ('card', 'topup', 'withdrawal', 'dispute', 'account',
                                        'other')),
  status          text not null default 'open'
                    check (status in ('open', 'pending', 'resolved', 'closed')),
  card_id         text collate "C",
  transaction_id  text collate "C",
  version         bigint not null default 1,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (account_id, id)
) with (fillfactor = 80);
create index tickets_by_id on tickets (id);

create table ticket_messages (
  account_id  text collate "C" not null,
  ticket_id   text collate "C" not null,
  id          text collate "C" not null,
  author      text not null check (author in ('customer', 'support')),
  body        text not null,
  created_at  timestamptz not null,
  primary key (account_id, ticket_id, id),
  foreign key (account_id, ticket_id) references tickets
);
create trigger ticket_messages_append_only before update or delete or truncate on ticket_messages
  for each statement execute function refuse_change();

-- Those who run the programme. A token is kept as a keyed hash and opens no account.
create table operator_tokens (
  id            text collate "C" primary key,
  name          text not null,
  role          text not null check (role in ('viewer', 'support', 'risk', 'admin')),
  token_hash    text not null unique,
  last_used_at  timestamptz,
  created_at    timestamptz not null,
  revoked_at    timestamptz
);
create unique index operator_tokens_named on operator_tokens (name) where revoked_at is null;

-- What they did, also where no account is concerned. The audit log of the account has it too.
create table operator_acts (
  id             bigint generated always as identity primary key,
  operator_id    text not null,
  operator_name  text not null,
  role           text not null,
  act            text not null,
  resource_type  text,
  resource_id    text,
  account_id     text collate "C",
  -- What was asked for, as it was sent.
  input          jsonb not null,
  request_id     text not null,
  ip             text not null,
  created_at     timestamptz not null
);
create trigger operator_acts_append_only before update or delete or truncate on operator_acts
  for each statement execute function refuse_change();

-- How often an account or an address has done something today, where the operator limits that.
create table velocities (
  subject    text collate "C" not null,
  operation  text not null,
  day        date not null,
  count      integer not null,
  primary key (subject, operation, day)
);
create index velocities_age on velocities (day);

-- The last change of password, e-mail or second factor: withdrawals wait for a while after it.
alter table accounts add column credentials_changed_at timestamptz;

-- What the operator looks for across accounts.
create unique index cards_by_id on cards (id);
create index cards_by_last4 on cards (last4, id);
create index cards_to_ship on cards (id) where shipping is not null;
create unique index withdrawals_by_id on withdrawals (id);
create index withdrawals_in_review on withdrawals (id) where step = 'review';
-- A purchase must not pay for a report: a block range index costs it next to nothing.
create index transactions_by_day on transactions using brin (created_at);
