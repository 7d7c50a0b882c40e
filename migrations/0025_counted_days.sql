-- An increment counts towards the limits of the day and month it is made in, and a reversal gives
-- back to where it counted. These stay null for an authorization that counted all of it on the day
-- it was made; otherwise they say what it counted on the last day it did, and in that day's month.
alter table transactions
  add column counted_day           date,
  add column counted_day_micros    bigint,
  add column counted_month_micros  bigint;
