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
