-- The grants whose webhooks were asked about a purchase: when one ends, its unused approvals are
-- void.
alter table three_ds_challenges
  add column asked_grants text[] not null default '{}';
