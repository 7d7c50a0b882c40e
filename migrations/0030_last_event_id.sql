-- The ID of an account's newest event. The next event gets a greater ID, also from a node whose
-- clock is behind: streams and lists follow IDs, and would miss an event that sorts before one they
-- have shown.
alter table account_heads add column last_event_id text collate "C" not null default '';
