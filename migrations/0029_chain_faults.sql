-- Why a chain that was never read well is not read: it has no cursor yet that could say so.
create table chain_faults (
  chain     text primary key,
  fault     text not null,
  noted_at  timestamptz not null
);
