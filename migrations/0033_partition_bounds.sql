-- Prepares events, movements and transactions for partitions by ID. The rows so far will be the
-- first partition, up to a month that none of them has reached. The next migration proves that
-- while the tables are in use; here, nothing is read but the greatest ID.
do $$
declare
  prepared record;
  newest   text;
  until    timestamp;
begin
  for prepared in
    select * from (values ('events', 'evt'), ('movements', 'bal'), ('transactions', 'txn'))
                    as t (name, prefix)
  loop
    execute format('select max(id) from %I', prepared.name) into newest;
    select date_trunc('month', (now() at time zone 'UTC') + offset_ms * interval '1 millisecond')
             + interval '2 months'
      into until from clock;
    -- The sandbox's clock may have been advanced by another cell.
    while prepared.prefix || '_' || id_time(until at time zone 'UTC') <= newest collate "C" loop
      until := until + interval '1 month';
    end loop;
    execute format('alter table %I add constraint first_partition_check check (id < %L) not valid',
      prepared.name, prepared.prefix || '_' || id_time(until at time zone 'UTC'));
  end loop;
end
$$;
