-- What a card has spent today and this month is counted in its purse: the two change together, so
-- that a purchase changes one row less. Days before the last one counted only towards their month.
alter table purses
  add column spent_day           date,
  add column day_spent_micros    bigint not null default 0,
  add column month_spent_micros  bigint not null default 0,
  add constraint purses_spent check (day_spent_micros >= 0 and month_spent_micros >= 0);

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
