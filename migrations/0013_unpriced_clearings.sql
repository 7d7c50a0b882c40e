-- Captures, refunds and stand-ins in a currency whose dollars nobody has said: no element 6, and no
-- purchase whose rate would tell. They have happened, so they are never refused; they wait here
-- for a person to say what they are in dollars, and are booked then as they would have been.
create table unpriced_clearings (
  account_id        text collate "C" not null,
  -- Its own; the transaction that comes of it has another one.
  id                text collate "C" not null,
  card_id           text collate "C" not null,
  kind              text not null check (kind in ('advise', 'capture', 'refund')),
  amount_minor      bigint not null,
  currency          text not null,
  merchant_name     text not null,
  -- What the message asks of the engine; without the card number and without the message itself.
  request           jsonb not null,
  message_identity  text collate "C" not null,
  amount_micros     bigint check (amount_micros > 0),
  created_at        timestamptz not null,
  settled_at        timestamptz,
  primary key (account_id, id),
  foreign key (account_id, card_id) references cards,
  check (settled_at is null or amount_micros is not null)
);
create unique index unpriced_clearings_waiting on unpriced_clearings (id)
  where settled_at is null;
