-- An approved 3-D Secure challenge serves its own merchant only: by id where both sides know it.
alter table three_ds_challenges add column merchant_id text;
