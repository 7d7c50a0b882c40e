-- Money back for one capture: refunds and the dispute credit that is kept never exceed the capture.

-- What refunds have taken back of a dispute's credit, and who closed it. Null on a closed dispute
-- stands for an operator: a node of the version before this one does not write it.
alter table disputes
  add column taken_back_micros  bigint not null default 0,
  add column closed_by          text check (closed_by in ('operator', 'refund')),
  add constraint disputes_taken_back_check check (taken_back_micros between 0 and amount_micros);

-- Which captures a refund was counted on, so that its reversal gives each its own part back. No
-- foreign key: both are transactions of one card, written under its lock.
create table refund_parts (
  account_id     text collate "C" not null,
  refund_id      text collate "C" not null,
  capture_id     text collate "C" not null,
  amount_micros  bigint not null check (amount_micros > 0),
  primary key (account_id, refund_id, capture_id)
);
create trigger refund_parts_append_only before update or delete or truncate on refund_parts
  for each statement execute function refuse_change();

-- Until now a reversed refund stayed counted on its captures. Their sum is what the authorization
-- says, spread from the oldest capture on.
with wrong as (
  select distinct a.account_id, a.id, a.refunded_micros
    from transactions r
    join transactions a on a.account_id = r.account_id and a.id = r.authorization_id
   where r.type = 'refund' and r.status = 'reversed' and a.type = 'authorization'
), spread as (
  select c.account_id, c.id, w.refunded_micros,
         c.captured_micros as taken,
         coalesce(sum(c.captured_micros) over (partition by c.account_id, c.authorization_id
                    order by c.id rows between unbounded preceding and 1 preceding), 0) as before
    from wrong w
    join transactions c on c.account_id = w.account_id and c.authorization_id = w.id
                       and c.type = 'capture'
)
update transactions t
   set refunded_micros = greatest(0, least(s.taken, s.refunded_micros - s.before))
  from spread s
 where t.account_id = s.account_id and t.id = s.id;

-- The refunds so far, in the order they came, on the captures of their purchase from the oldest on.
with refunds as (
  select account_id, authorization_id, id, amount_micros,
         sum(amount_micros) over w - amount_micros as low, sum(amount_micros) over w as high
    from transactions
   where type = 'refund' and status = 'settled' and authorization_id is not null
  window w as (partition by account_id, authorization_id order by id)
), captures as (
  select account_id, authorization_id, id,
         sum(refunded_micros) over w - refunded_micros as low, sum(refunded_micros) over w as high
    from transactions
   where type = 'capture' and authorization_id is not null and refunded_micros > 0
  window w as (partition by account_id, authorization_id order by id)
)
insert into refund_parts (account_id, refund_id, capture_id, amount_micros)
select r.account_id, r.id, c.id, least(r.high, c.high) - greatest(r.low, c.low)
  from refunds r
  join captures c using (account_id, authorization_id)
 where least(r.high, c.high) > greatest(r.low, c.low);
