-- incompatible: older nodes don't write purses.holds_expire_at, so their holds would never expire.
-- A capture or a reversal changes the row of an authorization. The column of an index changed with
-- it, so PostgreSQL wrote entries of that row into all indexes again, and the free space that pages
-- keep for such changes was never used.

-- No open authorization of the card expires earlier; null if there is none. Captures and reversals
-- leave it as it is: the task that expires holds moves it on when it is due.
alter table purses add column holds_expire_at timestamptz;

update purses p
   set holds_expire_at = o.first
  from (select account_id, card_id, min(expires_at) as first from transactions
         where open_micros > 0 group by account_id, card_id) o
 where p.account_id = o.account_id and p.kind = 'card' and p.owner_id = o.card_id;

-- A card in use changes its entry about once a week, and not with every purchase.
create index purses_with_holds on purses (holds_expire_at) where holds_expire_at is not null;

drop index transactions_to_expire;

-- A transaction keeps its type, unlike its status.
drop index transactions_declined;
create index transactions_declined on transactions (account_id, id) where type = 'decline';
