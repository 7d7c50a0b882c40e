-- Checking the reference for each row by itself was a good part of what a delivery costs. It is not
-- needed: who writes rows holds the key of their subscription until it commits, and who deletes a
-- subscription deletes its rows afterwards, in the same transaction.
alter table deliveries drop constraint deliveries_account_id_webhook_id_fkey;
