-- The addresses that the owner saw on the consent page when the grant was given or changed: only
-- they are sent an error before anybody has looked at the page.
alter table oauth_grants add column redirect_uris text[] not null default '{}';
