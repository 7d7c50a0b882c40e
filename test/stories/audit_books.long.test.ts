import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { accountsAfter, changedAccounts } from '#domain/system/proof_store.ts'
import { proveChanges } from '#domain/system/prove_books.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { florin } from '#test/support/florin_process.ts'

/** 200,000 captured purchases: one account with a quarter of them, and a thousand others. */
const ACCOUNTS = 1_001
const PURCHASES = 100_000
const START = '2026-01-01T00:00:00Z'

/** The accounts of the last forty purchases: a quarter are of the first one. */
const CHANGED = 31
const clone = await cloneDatabase()
after(clone.drop)

/** Runs a statement as the owner, without triggers and foreign keys. */
async function asOwner(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: clone.url })
  await client.connect()
  await client.query('set session_replication_role = replica')
  for (const statement of sql.split(';\n')) await client.query(statement)
  await client.end()
}

/** The ID of a row of a purchase. */
const id = (prefix: string, part: number) => `'${prefix}_' || body || '${part}'`

/**
 * Purchases as the engine writes them, as sets: an authorization of a dollar and its capture, with
 * their movements and events. Through the engine they would take minutes.
 */
async function writePurchases(from: number, to: number, start = START): Promise<void> {
  await asOwner(`
    create temporary table bought as
    select n, a, 'card' || substr(a, 5) as c, at, id_time(at) || lpad(n::text, 15, '0') as body
      from generate_series(${from}, ${to}) n,
           lateral (select case when n % 4 = 0 then 0 else 1 + n % ${ACCOUNTS - 1} end as number) o,
           lateral (select 'acct_' || lpad(number::text, 5, '0') as a,
                           timestamptz '${start}' + (n - ${from}) * interval '1 second' as at) p;
    insert into transactions (account_id, id, card_id, type, status, authorization_id, amount_minor,
      currency, amount_micros, merchant_name, mcc, captured_micros, card_present, entry_mode,
      network, version, created_at, updated_at, settled_at)
    select a, ${id('txn', 1)}, c, 'authorization', 'captured', ${id('txn', 1)}, 100, 'USD', 1000000,
      'Shop', '5411', 1000000, true, 'chip', 'visa', 2, at, at, at from bought;
    insert into transactions (account_id, id, card_id, type, status, authorization_id, amount_minor,
      currency, amount_micros, merchant_name, mcc, captured_micros, card_present, entry_mode,
      network, created_at, updated_at, settled_at)
    select a, ${id('txn', 2)}, c, 'capture', 'settled', ${id('txn', 1)}, 100, 'USD', 1000000,
      'Shop', '5411', 1000000, true, 'chip', 'visa', at, at, at from bought;
    insert into movements (account_id, id, movement, from_kind, from_owner_id, to_kind, to_owner_id,
      amount_micros, reference_type, reference_id, description, created_at)
    select a, ${id('bal', 1)}, 'spend_held', 'card', c, 'hold', c, 1000000, 'transaction',
      ${id('txn', 1)}, 'Shop', at from bought;
    insert into movements (account_id, id, movement, from_kind, from_owner_id, to_kind, to_owner_id,
      amount_micros, reference_type, reference_id, description, created_at)
    select a, ${id('bal', 2)}, 'hold_captured', 'hold', c, 'network', '', 1000000, 'transaction',
      ${id('txn', 2)}, 'Shop', at from bought;
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
     where p.account_id = b.a and p.kind = 'card'`)
}

async function writeAccounts(): Promise<void> {
  await asOwner(`
    insert into accounts (id, email, password_hash, notifications, created_at, updated_at)
    select 'acct_' || lpad(n::text, 5, '0'), n || '@example.com', '', '{}', now(), now()
      from generate_series(0, ${ACCOUNTS - 1}) n;
    insert into account_sequences (account_id, audit_hash)
    select id, encode(sha256(convert_to('florin audit of ' || id, 'UTF8')), 'hex') from accounts;
    insert into purses (account_id, kind, owner_id, balance_micros)
    select id, 'card', 'card' || substr(id, 5), 100000000000 from accounts;
    insert into purses (account_id, kind) select id, 'treasury' from accounts;
    insert into movements (account_id, id, movement, from_kind, to_kind, to_balance_micros,
      amount_micros, reference_type, reference_id, description, created_at)
    select id, 'bal_00000000000000000000000001', 'adjusted_up', 'operator', 'treasury',
      100000000000, 100000000000, 'account', id, '', now() from accounts;
    insert into movements (account_id, id, movement, from_kind, from_balance_micros, to_kind,
      to_owner_id, to_balance_micros, amount_micros, reference_type, reference_id, description,
      created_at)
    select id, 'bal_00000000000000000000000002', 'card_loaded', 'treasury', 0, 'card',
      'card' || substr(id, 5), 100000000000, 100000000000, 'card', id, '', now() from accounts`)
}

const SCANNED = `
  select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint as rows,
         sum(seq_scan) filter (where n_live_tup > 0)::bigint as whole
    from pg_stat_user_tables
   where relid in (select inhrelid from pg_inherits
                    where inhparent in ('transactions'::regclass, 'movements'::regclass,
                                        'events'::regclass))`

type ScannedRows = { rows: bigint; whole: bigint }

/** Connections report what they read some time after they end: waits until nothing is added. */
async function scannedSoFar(): Promise<ScannedRows> {
  const stats = openDatabase(clone.url, { pool_size: 1 })
  let last: ScannedRows = { rows: -1n, whole: -1n }
  let unchanged = 0
  while (unchanged < 4) {
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await stats.run('select pg_stat_clear_snapshot()')
    const [next = last] = await stats.rows<ScannedRows>(SCANNED)
    unchanged = next.rows === last.rows && next.whole === last.whole ? unchanged + 1 : 0
    last = next
  }
  await stats.close()
  return last
}

/** The rows of the three large tables that the work reads. */
async function rowsRead<Value>(work: (db: Database) => Promise<Value>) {
  const before = await scannedSoFar()
  const db = openDatabase(clone.url)
  const started = performance.now()
  const value = await work(db)
  const seconds = (performance.now() - started) / 1_000
  await db.close()
  const end = await scannedSoFar()
  const rows = Number(end.rows - before.rows)
  return { value, seconds, rows, whole_scans: Number(end.whole - before.whole) }
}

/** The capture of a purchase of the second run counts twice. */
const DOUBLED = `
  update transactions set captured_micros = captured_micros * 2
   where account_id = 'acct_00040' and type = 'authorization' and id like '%0000100039_'`

async function accountsFound(): Promise<string[]> {
  const db = openDatabase(clone.url, { pool_size: 1 })
  const rows = await db.rows<{ account_id: string }>(
    'select distinct account_id from proof_findings',
  )
  await db.close()
  return rows.map(({ account_id }) => account_id)
}

test('200,000 transactions: the second run reads only what changed', async (t) => {
  await writeAccounts()
  await writePurchases(1, PURCHASES)
  await asOwner('analyze')
  const check = () => undefined
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000)
  const first = await rowsRead((db) => proveChanges(db, { now: at(0), check }))
  t.diagnostic(`first run: ${JSON.stringify(first)}`)
  assert.equal(first.value.changed, ACCOUNTS)

  // Later than the first run, as purchases are.
  await writePurchases(PURCHASES + 1, PURCHASES + 40, at(0.5).toISOString())
  const second = await rowsRead(async (db) => {
    const page = await accountsAfter(db, '', 2 * ACCOUNTS)
    return (await changedAccounts(db, page)).length
  })
  t.diagnostic(`finding the changed accounts: ${JSON.stringify(second)}`)
  assert.equal(second.value, CHANGED)
  assert(second.rows < 10 * ACCOUNTS, 'a few look-ups per account')
  await asOwner(DOUBLED)
  const third = await rowsRead((db) => proveChanges(db, { now: at(1), check, has_cycle: false }))
  t.diagnostic(`second run: ${JSON.stringify(third)}`)
  assert.equal(third.value.changed, CHANGED)
  assert.equal(third.whole_scans, 0, 'no large table is scanned')
  assert(third.rows < PURCHASES, `the second run read ${third.rows} rows`)
  assert.deepEqual(await accountsFound(), ['acct_00040'])
  await asOwner(DOUBLED.replace('* 2', '/ 2'))
})

test('the command proves all of it in one run', async (t) => {
  const started = performance.now()
  const { code, output } = await florin(['audit', 'books'], { FLORIN_DATABASE_URL: clone.url })
  t.diagnostic(`${Math.round((performance.now() - started) / 1_000)} s`)
  assert.match(output, /movements +202082/)
  assert.match(output, /The books are sound\./)
  assert.equal(code, 0)
})
