-- Announced maintenance. Every account that existed at the announcement gets its own event;
-- notified_up_to is the last account id that has one.
create table maintenances (
  id            bigint generated always as identity primary key,
  starts_at     timestamptz not null,
  ends_at       timestamptz not null,
  message       text not null,
  components    text[] not null,
  announced_at  timestamptz not null,
  notified_up_to    text collate "C" not null default '',
  notified_at       timestamptz,
  check (ends_at > starts_at)
);
create index maintenances_to_notify on maintenances (id) where notified_at is null;
call guard_table('maintenances', 'select');

-- Proofs of the books that do not hold now: one row per proof and object, deleted when a later run
-- finds the object sound.
create table proof_findings (
  proof          text not null,
  -- The account; empty if the object belongs to none.
  account_id     text collate "C" not null default '',
  object_id      text collate "C" not null,
  sentence       text not null,
  first_seen_at  timestamptz not null,
  last_seen_at   timestamptz not null,
  -- The last email about it; null if there was none yet.
  mailed_at      timestamptz,
  primary key (account_id, proof, object_id)
);
call guard_table('proof_findings');

-- How far each account was proven. The next run continues there.
create table proven_accounts (
  account_id  text collate "C" primary key,
  -- Every movement, event and transaction with an ID up to this one, without its prefix.
  through     text collate "C" not null,
  -- The state of the proofs that add rows up: sums, sequence numbers, the end of the audit chain.
  running     jsonb not null,
  proven_at   timestamptz not null
) with (fillfactor = 80);
call guard_table('proven_accounts');

-- The cycle over all accounts from their first row, which takes a day, and the last complete run.
create table proof_cycles (
  is_only           boolean primary key default true check (is_only),
  -- The last account of the current cycle, and when the cycle began.
  after_account     text collate "C" not null default '',
  started_at        timestamptz not null,
  -- The accounts at the start of the cycle, which decide how many each run takes.
  accounts          bigint not null,
  last_finished_at  timestamptz,
  last_run_at       timestamptz
);
call guard_table('proof_cycles');
