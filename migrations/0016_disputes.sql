-- Disputes and their evidence.

-- A disputed capture. It is filed, answered and closed under the lock of its card, like every
-- change of a transaction.
create table disputes (
  account_id         text collate "C" not null references accounts,
  id                 text collate "C" not null,
  transaction_id     text collate "C" not null,
  card_id            text collate "C" not null,
  amount_micros      bigint not null check (amount_micros > 0),
  reason             text not null,
  explanation        text not null,
  status             text not null default 'open' check (status in ('open', 'answered', 'closed')),
  outcome            text check (outcome in ('won', 'lost')),
  response_text      text,
  response_at        timestamptz,
  evidence_due_at    timestamptz not null,
  -- The last notification about that deadline.
  evidence_step      text not null default 'waiting'
                       check (evidence_step in ('waiting', 'reminded', 'passed')),
  metadata           jsonb not null default '{}',
  version            bigint not null default 1,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  resolved_at        timestamptz,
  -- The part of the credit that refunds took back: refunds and the credit that is kept never exceed
  -- the capture.
  taken_back_micros  bigint not null default 0,
  closed_by          text check (closed_by in ('operator', 'refund')),
  primary key (account_id, id),
  check ((status = 'closed') = (outcome is not null)),
  check ((status = 'closed') = (resolved_at is not null)),
  check ((response_text is null) = (response_at is null)),
  constraint disputes_taken_back_check check (taken_back_micros between 0 and amount_micros)
) with (fillfactor = 80);
-- At most one open dispute per capture.
create unique index disputes_open on disputes (account_id, transaction_id)
  where status <> 'closed';
create index disputes_of_transaction on disputes (account_id, transaction_id);
create index disputes_by_id on disputes (id);
create index disputes_due on disputes (evidence_due_at)
  where status <> 'closed' and evidence_step <> 'passed';
call guard_table('disputes', 'select, insert, update');

-- A foreign key would refuse to detach a month with a disputed purchase. Nobody may delete a
-- transaction, so it is enough to check new disputes.
create function require_disputed_transaction() returns trigger language plpgsql as $$
begin
  perform from transactions where account_id = new.account_id and id = new.transaction_id;
  if not found then
    raise exception 'the transaction % does not exist', new.transaction_id
      using errcode = 'foreign_key_violation', table = 'disputes';
  end if;
  return new;
end
$$;
create trigger disputes_of_transactions
  before insert or update of account_id, transaction_id on disputes
  for each row execute function require_disputed_transaction();

-- A file is stored under its id before its row is written, so every row has its file. A task
-- deletes files without a row.
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
call guard_table('evidence', 'select, insert');
