-- An event's number is the next of its account's head, which is locked or compared when it is
-- taken, and the proofs of the books count them. An index that only says so again made every
-- purchase write one entry more, and nothing reads it.
alter table events drop constraint events_account_id_sequence_key;
