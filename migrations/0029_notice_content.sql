-- The HTML of an email about an event is made when it is sent: stored, it was two thirds of what a
-- purchase writes. Emails with links that stop working are stored as they were sent.
-- formerly: 562095ee0fb76d4182176b49de7de8030dc795672cee01ab1bd49df8d36b7a36
alter table notices alter column body_html drop not null;
alter table notices add column content jsonb;
alter table notices add constraint notices_html_check
  check (body_html is not null or content is not null);
