-- Responses stored under an Idempotency-Key, in the same transaction as the effect.
create table stored_responses (
  scope        text not null,
  key          text not null,
  fingerprint  text not null,
  status       integer not null,
  body         text not null,
  account_id   text collate "C",
  created_at   timestamptz not null,
  replayed_at  timestamptz,
  primary key (scope, key)
);
create index stored_responses_age on stored_responses (created_at);
call guard_table('stored_responses', 'select, insert, update');
