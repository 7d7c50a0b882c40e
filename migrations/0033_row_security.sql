-- Who may do what in the database. migrate creates both roles before it applies this file.
--
--   florin_service  the engine, the tasks, the operator console, sign-in: every account, but it
--                   owns nothing, so it cannot drop or disable a trigger
--   florin_account  calls of one account: the rows of the account in florin.account_id
--
-- The login that migrates owns the tables, and no policy applies to an owner: pg_dump and later
-- migrations see every row.

-- Every table needs one call of this, also those of later migrations; a test finds a missing one.
-- `account_may` is what calls of an account may do with its own rows, or, in a table that belongs
-- to no account, with all of them. A table with an append-only trigger gives nobody more than
-- select and insert.
create procedure guard_table(
  guarded regclass, account_may text default '', account_column name default 'account_id')
language plpgsql as $$
declare
  is_append_only boolean := exists (
    select from pg_trigger where tgrelid = guarded and tgfoid = 'refuse_change'::regproc);
begin
  execute format('grant %s on %s to florin_service',
    case when is_append_only then 'select, insert' else 'select, insert, update, delete' end,
    guarded);
  if account_may <> '' then
    execute format('grant %s on %s to florin_account', account_may, guarded);
  end if;
  if exists (select from pg_attribute where attrelid = guarded and attname = account_column) then
    execute format('alter table %s enable row level security', guarded);
    execute format('create policy of_service on %s to florin_service using (true)', guarded);
    -- The subquery is evaluated once a statement, and the planner compares it with the account
    -- that the statement names itself: indexes are used as without the policy.
    execute format('create policy of_account on %s to florin_account
      using (%I = (select current_setting(''florin.account_id'', true)))', guarded, account_column);
  end if;
end
$$;
revoke execute on procedure guard_table from public;

call guard_table('accounts', 'select, update', 'id');
call guard_table('recovery_codes', 'select, insert, delete');
call guard_table('sessions', 'select, update');
call guard_table('api_keys', 'select, insert, update');
call guard_table('api_key_uses');
call guard_table('account_heads', 'select, update');
call guard_table('events', 'select, insert');
call guard_table('audit_entries', 'select, insert');
call guard_table('idempotent_answers', 'select, insert, update');
call guard_table('oauth_grants', 'select, update');
call guard_table('oauth_payloads', 'select, delete');
call guard_table('mcp_sessions');
call guard_table('security_undos', 'select, insert');

call guard_table('purses', 'select, insert, update');
call guard_table('movements', 'select, insert');
call guard_table('topups', 'select, insert, update');
call guard_table('deposit_addresses', 'select, insert');
call guard_table('chain_transfers', 'select');
call guard_table('address_holdings');
call guard_table('withdrawals', 'select, insert, update');
call guard_table('withdrawal_transfers', 'select');
call guard_table('x402_payments', 'select, update');

call guard_table('cards', 'select, insert, update');
call guard_table('card_reveals', 'select, insert');
call guard_table('card_attempts', 'select');
call guard_table('transactions', 'select, update');
call guard_table('network_messages', 'select');
call guard_table('three_ds_challenges', 'select, update');
call guard_table('unpriced_clearings', 'select');
call guard_table('refund_parts', 'select');
call guard_table('disputes', 'select, insert, update');
call guard_table('evidence', 'select, insert');
call guard_table('tickets', 'select, insert, update');
call guard_table('ticket_messages', 'select, insert');

call guard_table('webhooks', 'select, insert, update, delete');
call guard_table('deliveries', 'select, insert, update, delete');
call guard_table('delivery_attempts', 'select, insert');
call guard_table('outbox', 'insert');
call guard_table('notices', 'insert');
call guard_table('low_balances');
call guard_table('operator_acts');

-- Of no account. Guesses and velocities are counted under keyed hashes and addresses.
call guard_table('guesses', 'select, insert, update, delete');
call guard_table('velocities', 'select, insert, update');
call guard_table('kill_switches', 'select');
call guard_table('maintenances', 'select');
call guard_table('chain_cursors', 'select');
call guard_table('chain_faults');
call guard_table('clock');
call guard_table('sweeps');
call guard_table('sweep_transfers');
call guard_table('sender_orders');
call guard_table('early_reversals');
call guard_table('x402_transfers');
call guard_table('task_runs');
call guard_table('operator_tokens');
call guard_table('first_operator_tokens');

grant select on entries, purse_balances, migrations to florin_service;
grant usage on sequence deposit_address_index to florin_service, florin_account;

-- Two questions of an account's call concern all accounts; each is answered with yes or no.
create function is_email_taken(wanted text, by_other_than text) returns boolean
language sql stable security definer
begin atomic
  select exists (select from accounts where email = wanted and id <> by_other_than);
end;

create function is_deposit_address(of_chain text, wanted text) returns boolean
language sql stable security definer
begin atomic
  select exists (select from deposit_addresses where chain = of_chain and address = wanted);
end;

revoke execute on function is_email_taken, is_deposit_address from public;
grant execute on function is_email_taken, is_deposit_address to florin_service, florin_account;
