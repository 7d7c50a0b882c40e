-- An agent's own trail: the OAuth client that created a row. Null: the owner, with a session or an
-- API key. A replacement card belongs to the issuer of the first one.
alter table cards add column client_id text;
alter table withdrawals add column client_id text;
alter table topups add column client_id text;
-- Events of card messages have none: they are found by the agent's cards.
alter table events add column client_id text;

create index cards_of_client on cards (account_id, client_id, id) where client_id is not null;
create index withdrawals_of_client on withdrawals (account_id, client_id, id)
  where client_id is not null;
create index topups_of_client on topups (account_id, client_id, id) where client_id is not null;
create index events_of_client on events (account_id, client_id, id) where client_id is not null;

-- The audit log knows who created the rows so far.
with recursive created as (
  select account_id, resource_id as id, actor_id as client_id from audit_entries
   where action = 'issue_card' and actor_type = 'oauth_client' and result = 'success'
   union
  select c.account_id, c.replaced_by, o.client_id
    from created o join cards c on c.account_id = o.account_id and c.id = o.id
   where c.replaced_by is not null)
update cards c set client_id = o.client_id
  from created o where c.account_id = o.account_id and c.id = o.id;
update withdrawals w set client_id = a.actor_id
  from audit_entries a
 where a.account_id = w.account_id and a.resource_id = w.id and a.action = 'withdrawal.requested'
   and a.actor_type = 'oauth_client' and a.result = 'success';
update topups t set client_id = a.actor_id
  from audit_entries a
 where a.account_id = t.account_id and a.resource_id = t.id and a.action = 'create_topup'
   and a.actor_type = 'oauth_client' and a.result = 'success';
