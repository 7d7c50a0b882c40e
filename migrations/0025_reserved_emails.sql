-- While an undo link of an account works, the address that it restores is reserved for the account:
-- a thief could otherwise open an account with it, and the owner's link would fail.

create index security_undos_email on security_undos (email) where used_at is null;

-- An account's call may ask about other accounts only this, and gets only yes or no. The account
-- that has an address keeps it. The directory has rows in cell 0 only. Nodes of version 0.1 call
-- is_email_taken instead.
create function is_email_free(wanted text, wanted_by text, at timestamptz) returns boolean
language sql stable security definer
begin atomic
  select coalesce(
    (select id = wanted_by from accounts where email = wanted),
    not exists (select from security_undos
                 where email = wanted and account_id <> wanted_by
                   and used_at is null and expires_at > at)
    and not exists (select from directory_emails where email = wanted and cell <> 0));
end;
revoke execute on function is_email_free from public;
grant execute on function is_email_free to florin_service, florin_account;
