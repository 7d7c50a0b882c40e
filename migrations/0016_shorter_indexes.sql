-- Every purchase writes into these indexes. A card belongs to one account for ever, so its id alone
-- says whose rows they are: the account before it made each entry half as long again.
drop index transactions_of_card;
create index transactions_of_card on transactions (card_id, id);
drop index transactions_by_reference;
create index transactions_by_reference on transactions (card_id, retrieval_reference_number)
  where authorization_id is null or authorization_id = id;
drop index events_of_card;
create index events_of_card on events (card_id, id) where card_id is not null;

-- Spending is nearly all that happens, so the account's own order finds it soon enough; this index
-- is for what is rare between it.
drop index events_of_kind;
create index events_of_kind on events (account_id, activity_type, id)
  where activity_type <> 'spend';
