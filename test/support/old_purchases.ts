import pg from 'pg'

/** Runs statements as the owner of the tables, without triggers and foreign keys. */
export async function asOwner(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('set session_replication_role = replica')
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** Accounts acct_00000 and following, each with a card that holds $100,000. */
export const writeAccounts = (url: string, count: number, at: string): Promise<void> =>
  asOwner(
    url,
    `create temporary table opened as
     select 'acct_' || lpad(n::text, 5, '0') as a, 'card_' || lpad(n::text, 5, '0') as c,
            timestamptz '${at}' as at, id_time('${at}') || '000000000000000' as body
       from generate_series(0, ${count - 1}) n;
     insert into accounts (id, email, password_hash, notifications, created_at, updated_at)
     select a, a || '@example.com', '', '{}', at, at from opened;
     insert into account_sequences (account_id, audit_hash)
     select a, encode(sha256(convert_to('florin audit of ' || a, 'UTF8')), 'hex') from opened;
     insert into purses (account_id, kind, owner_id, balance_micros)
     select a, 'card', c, 100000000000 from opened;
     insert into purses (account_id, kind) select a, 'treasury' from opened;
     insert into movements (account_id, id, movement, from_kind, to_kind, to_balance_micros,
       amount_micros, reference_type, reference_id, description, created_at)
     select a, 'bal_' || body || '1', 'adjusted_up', 'operator', 'treasury', 100000000000,
       100000000000, 'account', a, '', at from opened;
     insert into movements (account_id, id, movement, from_kind, from_balance_micros, to_kind,
       to_owner_id, to_balance_micros, amount_micros, reference_type, reference_id, description,
       created_at)
     select a, 'bal_' || body || '2', 'card_loaded', 'treasury', 0, 'card', c, 100000000000,
       100000000000, 'card', c, '', at from opened`,
  )

type Purchases = { accounts: number; from: string; count: number; every: string }

const id = (prefix: string, part: number) => `'${prefix}_' || body || '${part}'`

const TRANSACTION = `insert into transactions (account_id, id, card_id, type, status,
  authorization_id, amount_minor, currency, amount_micros, merchant_name, mcc, captured_micros,
  card_present, entry_mode, network, version, created_at, updated_at, settled_at) `
const MOVEMENT = `insert into movements (account_id, id, movement, from_kind, from_owner_id,
  to_kind, to_owner_id, amount_micros, reference_type, reference_id, description, created_at) `

/**
 * Purchases as the engine writes them, as sets: an authorization of a dollar and its capture, with
 * their movements and events, for one account after the other at an interval.
 */
export const writePurchases = (
  url: string,
  { accounts, from, count, every }: Purchases,
): Promise<void> =>
  asOwner(
    url,
    `create temporary table bought as
     select a, 'card' || substr(a, 5) as c, at, id_time(at) || lpad(n::text, 15, '0') as body
       from generate_series(0, ${count - 1}) n,
            lateral (select 'acct_' || lpad((n % ${accounts})::text, 5, '0') as a,
                            timestamptz '${from}' + n * interval '${every}' as at) p;
     ${TRANSACTION} select a, ${id('txn', 1)}, c, 'authorization', 'captured', ${id('txn', 1)}, 100,
       'USD', 1000000, 'Shop', '5411', 1000000, true, 'chip', 'visa', 2, at, at, at from bought;
     ${TRANSACTION} select a, ${id('txn', 2)}, c, 'capture', 'settled', ${id('txn', 1)}, 100, 'USD',
       1000000, 'Shop', '5411', 1000000, true, 'chip', 'visa', 1, at, at, at from bought;
     ${MOVEMENT} select a, ${id('bal', 1)}, 'spend_held', 'card', c, 'hold', c, 1000000,
       'transaction', ${id('txn', 1)}, 'Shop', at from bought;
     ${MOVEMENT} select a, ${id('bal', 2)}, 'hold_captured', 'hold', c, 'network', '', 1000000,
       'transaction', ${id('txn', 2)}, 'Shop', at from bought;
     insert into events (account_id, id, sequence, type, activity_type, severity, message, card_id,
       amount_micros, resource_type, resource_id, body, created_at)
     select a, 'evt_' || body || part, h.event_sequence
         + row_number() over (partition by a order by body, part),
       case part when 2 then 'transaction.captured' else 'transaction.authorized' end,
       'spend', 'info', 'Shop', c, 1000000, 'transaction', 'txn_' || body || part, '{}', at
       from bought join account_sequences h on h.account_id = a, generate_series(1, 2) part;
     update account_sequences h set event_sequence = event_sequence + b.count
       from (select a, 2 * count(*) as count from bought group by a) b where h.account_id = b.a;
     update purses p set balance_micros = balance_micros - b.count * 1000000, moved_at = b.last
       from (select a, count(*) as count, max(at) as last from bought group by a) b
      where p.account_id = b.a and p.kind = 'card'`,
  )
