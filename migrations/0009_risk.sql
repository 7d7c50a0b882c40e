-- Kill switches and daily counters.

-- One kill switch per rail. While one is on, its operations return 503 and move no money; incoming
-- deposits wait in suspense.
create table kill_switches (
  rail        text primary key
                check (rail in ('topups', 'withdrawals', 'issuing', 'authorizations')),
  is_on       boolean not null default false,
  reason      text,
  changed_at  timestamptz,
  -- True for a switch that was turned on in this cell alone, because the cell was restored from a
  -- backup. The other switches of cell 0 apply to all cells: one that was down takes them over.
  is_local    boolean not null default false
);
insert into kill_switches (rail) values
  ('topups'), ('withdrawals'), ('issuing'), ('authorizations');
call guard_table('kill_switches', 'select');

-- How often an account or IP address used a limited operation on a day.
create table velocities (
  subject    text collate "C" not null,
  operation  text not null,
  day        date not null,
  count      integer not null,
  primary key (subject, operation, day)
);
create index velocities_age on velocities (day);
call guard_table('velocities', 'select, insert, update');
