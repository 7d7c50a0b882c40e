-- Responses stored under an Idempotency-Key, in the same transaction as the effect.
create table idempotent_answers (
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
create index idempotent_answers_age on idempotent_answers (created_at);
call guard_table('idempotent_answers', 'select, insert, update');
