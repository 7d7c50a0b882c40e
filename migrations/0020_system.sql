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
