-- Tasks that one node does for all, and when it last did: the others skip theirs meanwhile.
create table task_runs (
  task        text primary key,
  node        text not null,
  finished_at timestamptz not null
);
