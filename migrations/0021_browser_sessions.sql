-- Browser sessions at the authorization server end with a change of password, e-mail or second
-- factor and with a suspension. A session's row may be saved once more by a request that read it
-- before, so each row says whose it is and when the password was entered, and counts only if that
-- was after the account's browser sessions were last ended.
alter table accounts add column browser_sessions_ended_at timestamptz;

alter table oauth_payloads
  add column account_id text collate "C",
  add column signed_in_at timestamptz;
create index oauth_payloads_account on oauth_payloads (account_id) where account_id is not null;

-- Rows from before say neither.
delete from oauth_payloads where model in ('Session', 'Interaction');
