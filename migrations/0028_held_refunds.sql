-- A refund beyond what its purchase took waits for a person too, where the programme wants that:
-- its dollars are known, and what is missing is an approval. It shares the table of the clearings
-- that wait for their dollars, because it is kept and booked in the same way.
alter table unpriced_clearings
  add column waits_for    text not null default 'dollars'
    check (waits_for in ('dollars', 'review')),
  add column approved_at  timestamptz,
  -- By a person, or because the network reversed it while it waited.
  add column refused_at   timestamptz,
  add check (settled_at is null or refused_at is null),
  add check (waits_for = 'dollars' or amount_micros is not null);
create index unpriced_clearings_by_message on unpriced_clearings (message_identity)
  where settled_at is null and refused_at is null;
