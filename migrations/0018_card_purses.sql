-- All that a purchase changes of its card's money is one row: what the card can spend, what is held
-- of it, and what it has spent today and this month. As three rows each had to be found and changed
-- by itself. Days before the last one count only towards their month.
alter table purses
  add column held_micros         bigint not null default 0,
  add column spent_day           date,
  add column day_spent_micros    bigint not null default 0,
  add column month_spent_micros  bigint not null default 0;

insert into purses (account_id, kind, owner_id)
select account_id, 'card', owner_id from purses where kind = 'hold'
    on conflict do nothing;
update purses p
   set held_micros = h.balance_micros, moved_at = greatest(p.moved_at, h.moved_at)
  from purses h
 where h.account_id = p.account_id and h.kind = 'hold' and h.owner_id = p.owner_id
   and p.kind = 'card';
delete from purses where kind = 'hold';

update purses p
   set spent_day = last.day,
       day_spent_micros = last.spent_micros,
       month_spent_micros = (
         select sum(spent_micros) from card_spending s
          where s.account_id = p.account_id and s.card_id = p.owner_id
            and s.day >= date_trunc('month', last.day))
  from (select distinct on (account_id, card_id) * from card_spending
         order by account_id, card_id, day desc) last
 where p.account_id = last.account_id and p.kind = 'card' and p.owner_id = last.card_id;
drop table card_spending;

alter table purses
  drop constraint purses_kind_check,
  add constraint purses_kind_check check (kind in ('treasury', 'payout', 'card', 'receivable')),
  add constraint purses_of_cards_check
    check (held_micros >= 0 and day_spent_micros >= 0 and month_spent_micros >= 0);

-- Every purse by itself, as movements name them.
create view purse_balances as
  select account_id, kind, owner_id, balance_micros from purses
  union all
  select account_id, 'hold', owner_id, held_micros from purses where kind = 'card';
