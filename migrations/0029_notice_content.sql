-- The HTML of an email about an event is made when it is sent: stored, it was two thirds of what a
-- purchase writes. Emails with links that stop working are stored as they were sent.
alter table notices
  alter column body_html drop not null,
  add column content jsonb,
  add constraint notices_html_check check (body_html is not null or content is not null);
