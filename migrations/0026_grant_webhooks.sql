-- The grant whose token made a subscription; null where the account's owner did. It ends with it.
alter table webhooks add column grant_id text collate "C";
create index webhooks_grant on webhooks (grant_id) where grant_id is not null;
