-- Support tickets.

create table tickets (
  account_id      text collate "C" not null references accounts,
  id              text collate "C" not null,
  subject         text not null,
  category        text not null
                    check (category in ('card', 'topup', 'withdrawal', 'dispute', 'account',
                                        'other')),
  status          text not null default 'open'
                    check (status in ('open', 'pending', 'resolved', 'closed')),
  card_id         text collate "C",
  transaction_id  text collate "C",
  version         bigint not null default 1,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (account_id, id)
) with (fillfactor = 80);
create index tickets_by_id on tickets (id);
call guard_table('tickets', 'select, insert, update');

create table ticket_messages (
  account_id  text collate "C" not null,
  ticket_id   text collate "C" not null,
  id          text collate "C" not null,
  author      text not null check (author in ('customer', 'support')),
  body        text not null,
  created_at  timestamptz not null,
  primary key (account_id, ticket_id, id),
  foreign key (account_id, ticket_id) references tickets
);
create trigger ticket_messages_append_only before update or delete or truncate on ticket_messages
  for each statement execute function refuse_change();
call guard_table('ticket_messages', 'select, insert');
