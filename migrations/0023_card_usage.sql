-- Cards for one purchase, for one merchant, or until a date.
-- incompatible: older nodes approve purchases without reading cards.usage

alter table cards
  add column usage               text not null default 'reusable'
                                   check (usage in ('reusable', 'single_use', 'merchant_locked')),
  -- The merchant of a merchant_locked card; null until its first approved authorization.
  add column merchant_lock_name  text,
  add column merchant_lock_id    text,
  -- Later authorizations decline with card_expired.
  add column valid_until         timestamptz,
  add check (merchant_lock_name is null or usage = 'merchant_locked'),
  add check (merchant_lock_id is null or merchant_lock_name is not null),
  drop constraint cards_cancel_reason_check,
  add constraint cards_cancel_reason_check check (cancel_reason in
    ('requested', 'replaced', 'lost', 'stolen', 'admin', 'expired', 'used')),
  -- Only a single-use card is used up.
  add check (cancel_reason is distinct from 'used' or usage = 'single_use');
