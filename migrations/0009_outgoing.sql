-- Money that leaves by our own keys: what waits on deposit addresses, whose turn it is, what was
-- signed for sweeps.

-- Which asset a transfer brought. Before this there was one a chain, that of its top-up.
alter table chain_transfers add column asset text;
update chain_transfers t set asset = u.asset
  from topups u where u.account_id = t.account_id and u.id = t.topup_id;
alter table chain_transfers alter column asset set not null;

-- What a deposit address has received and what of it was swept. It follows from transfers and
-- sweeps and is proven against them; it exists so that planning a sweep reads what is due and not
-- every transfer there ever was.
create table address_holdings (
  chain            text not null,
  address          text collate "C" not null,
  asset            text not null,
  account_id       text collate "C" not null,
  topup_id         text collate "C" not null,
  address_index    bigint not null,
  gathered_micros  bigint not null check (gathered_micros > 0),
  swept_micros     bigint not null default 0
                     check (swept_micros between 0 and gathered_micros),
  unswept_micros   bigint not null generated always as (gathered_micros - swept_micros) stored,
  -- After a sweep that failed on the chain; each try costs a fee.
  sweep_after      timestamptz,
  primary key (chain, address, asset)
) with (fillfactor = 80);
create index address_holdings_unswept on address_holdings (chain, unswept_micros desc)
  where unswept_micros > 0;

insert into address_holdings (chain, address, asset, account_id, topup_id, address_index,
                              gathered_micros, swept_micros)
select d.chain, d.address, t.asset, d.account_id, d.topup_id, d.address_index,
       sum(t.value_micros),
       coalesce((select sum(s.value_micros) from sweeps s
                  where s.chain = d.chain and s.address = d.address and s.asset = t.asset
                    and s.step = 'done'), 0)
  from chain_transfers t
  join deposit_addresses d
    on d.chain = t.chain and d.account_id = t.account_id and d.topup_id = t.topup_id
 group by d.chain, d.address, t.asset, d.account_id, d.topup_id, d.address_index;

-- The next place in a sender's order, on chains that have one. It moves in the transaction that
-- stores the transfer which takes the place, so that no place is given twice or left out.
create table sender_orders (
  chain       text not null,
  address     text collate "C" not null,
  next_nonce  bigint not null check (next_nonce >= 0),
  primary key (chain, address)
);

-- Every transfer that was ever signed for a sweep, with its bytes, before it was sent.
create table sweep_transfers (
  chain       text not null,
  address     text collate "C" not null,
  number      integer not null,
  -- Fuel goes to the address; then the asset leaves it.
  leg         text not null check (leg in ('fuel', 'asset')),
  attempt     integer not null,
  txid        text not null unique,
  raw         text not null,
  signature   text not null,
  expires_at  timestamptz,
  nonce       bigint,
  created_at  timestamptz not null,
  primary key (chain, address, number, leg, attempt),
  foreign key (chain, address, number) references sweeps
);
create trigger sweep_transfers_append_only before update or delete or truncate
  on sweep_transfers for each statement execute function refuse_change();

insert into sweep_transfers (chain, address, number, leg, attempt, txid, raw, signature, expires_at,
                             created_at)
select chain, address, number, case step when 'fuelling' then 'fuel' else 'asset' end, attempt,
       txid, raw, signature, expires_at, updated_at
  from sweeps where step in ('fuelling', 'sweeping');

-- The coins that its fuel brings, fixed before they are signed for.
alter table sweeps add column fuel bigint check (fuel > 0);
alter table sweeps drop column txid, drop column raw, drop column signature, drop column expires_at;
