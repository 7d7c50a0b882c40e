-- Emails to account holders and the operator.

-- Written in the transaction of their cause and sent by a task. Without a mail server they stay
-- here, and the sandbox shows them.
create table notices (
  id               bigint generated always as identity primary key,
  -- Null for an email to the operator.
  account_id       text collate "C" references accounts,
  kind             text not null,
  recipient        text not null,
  subject          text not null,
  body_text        text not null,
  -- Null for an email about an event: its HTML is made from its content when it is sent, because
  -- stored, it was two thirds of what a purchase writes. Emails with links that stop working are
  -- stored as they were sent.
  body_html        text,
  state            text not null default 'due' check (state in ('due', 'sent', 'given_up')),
  attempts         integer not null default 0,
  next_attempt_at  timestamptz not null,
  last_error       text,
  created_at       timestamptz not null,
  sent_at          timestamptz,
  content          jsonb,
  constraint notices_html_check check (body_html is not null or content is not null)
) with (fillfactor = 80);
create index notices_of_account on notices (account_id, id);
create index notices_due on notices (next_attempt_at) where state = 'due';
create index notices_age on notices (created_at);
call guard_table('notices', 'insert');

-- Accounts that got an email about their low balance. The row is deleted when the balance recovers.
create table low_balances (
  account_id   text collate "C" primary key references accounts,
  notified_at  timestamptz not null
);
call guard_table('low_balances');
