-- Actions of operators are recorded in the cell of their account, and all cells make one list. So
-- their numbers begin with the time: milliseconds, then seven bits for the cell and ten for a
-- counter. They are greater than all numbers before them, and have 18 digits until the year 2211.
-- formerly: a888f0e29a069e1fe445f8e87a0c6b4568584d3a1a4f0740c63202947c40e462
create sequence operator_action_count maxvalue 1023 minvalue 0 start 0 cycle;
grant usage on sequence operator_action_count to florin_service;

create function next_operator_action_id() returns bigint language sql volatile as $$
  select (floor(extract(epoch from clock_timestamp()) * 1000)::bigint << 17)
       | (coalesce((select number from cell), 0)::bigint << 10)
       | nextval('operator_action_count')
$$;
alter table operator_actions alter column id set default next_operator_action_id();
