-- Cards for one purchase, for one merchant, or until a date.
-- incompatible: older nodes approve purchases without reading cards.usage
-- formerly: ac3915186f428f0b816f19598df6fdaf620b29e6474a7dfc42976bde06c49ec0

alter table cards
  add column usage               text not null default 'reusable',
  -- The merchant of a merchant_locked card; null until its first approved authorization.
  add column merchant_lock_name  text,
  add column merchant_lock_id    text,
  -- Later authorizations decline with card_expired.
  add column valid_until         timestamptz;

-- One by one, because Citus adds no constraint together with other changes.
alter table cards add check (usage in ('reusable', 'single_use', 'merchant_locked'));
alter table cards add check (merchant_lock_name is null or usage = 'merchant_locked');
alter table cards add check (merchant_lock_id is null or merchant_lock_name is not null);
alter table cards drop constraint cards_cancel_reason_check;
alter table cards add constraint cards_cancel_reason_check check (cancel_reason in
  ('requested', 'replaced', 'lost', 'stolen', 'admin', 'expired', 'used'));
-- Only a single-use card is used up.
alter table cards add check (cancel_reason is distinct from 'used' or usage = 'single_use');
