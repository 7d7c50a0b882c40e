-- An event is written under the lock of its account's head, which has the account by a reference of
-- its own. Checking it again wrote a lock onto the account's row with every event of a purchase.
alter table events drop constraint events_account_id_fkey;
