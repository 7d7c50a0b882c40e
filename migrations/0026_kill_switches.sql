-- True for a switch that was turned on in this cell alone, because the cell was restored from a
-- backup. The other switches of cell 0 apply to all cells: one that was down takes them over.
alter table kill_switches add column is_local boolean not null default false;
