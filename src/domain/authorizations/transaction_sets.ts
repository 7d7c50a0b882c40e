import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { assert } from '#kernel/assert.ts'
import { bigints, booleans, moments, texts } from '#platform/columns.ts'
import type { Tx } from '#platform/db.ts'

const columns = { text: texts, bigint: bigints, boolean: booleans, timestamptz: moments }

/** Column and type of a new transaction; the statement and its arrays are read off here. */
const INSERTED: readonly (readonly [keyof TransactionRow, keyof typeof columns])[] = [
  ['account_id', 'text'],
  ['id', 'text'],
  ['card_id', 'text'],
  ['type', 'text'],
  ['status', 'text'],
  ['authorization_id', 'text'],
  ['amount_minor', 'bigint'],
  ['currency', 'text'],
  ['amount_micros', 'bigint'],
  ['fx_rate', 'text'],
  ['merchant_name', 'text'],
  ['mcc', 'text'],
  ['merchant_city', 'text'],
  ['merchant_country', 'text'],
  ['merchant_id', 'text'],
  ['terminal_id', 'text'],
  ['open_micros', 'bigint'],
  ['held_micros', 'bigint'],
  ['captured_micros', 'bigint'],
  ['refunded_micros', 'bigint'],
  ['decline_code', 'text'],
  ['card_present', 'boolean'],
  ['entry_mode', 'text'],
  ['wallet', 'text'],
  ['three_ds_result', 'text'],
  ['three_ds_challenge_id', 'text'],
  ['network', 'text'],
  ['network_transaction_id', 'text'],
  ['retrieval_reference_number', 'text'],
  ['authorization_code', 'text'],
  ['is_single_message', 'boolean'],
  ['is_stand_in', 'boolean'],
  ['is_forced', 'boolean'],
  ['message_identity', 'text'],
  ['version', 'bigint'],
  ['settled_at', 'timestamptz'],
  ['expires_at', 'timestamptz'],
]

const names = INSERTED.map(([name]) => name).join(', ')
const arrays = INSERTED.map(([, type], at) => `$${at + 1}::${type}[]`).join(', ')
const last = INSERTED.length

const INSERT_TRANSACTIONS = `
  insert into transactions (${names}, failed_rules, created_at, updated_at)
  select ${names}, string_to_array(rules, ','), $${last + 2}, $${last + 2}
    from unnest(${arrays}, $${last + 1}::text[]) as w (${names}, rules)`

export async function insertTransactions(tx: Tx, rows: readonly TransactionRow[], now: Date) {
  if (rows.length === 0) return
  const inserted = await tx.run(INSERT_TRANSACTIONS, [
    ...INSERTED.map(([name, type]) => columns[type](rows, (row) => row[name] as never)),
    texts(rows, (row) => row.failed_rules.join(',')),
    now,
  ])
  assert(inserted === rows.length, 'every transaction of a batch was written')
}

const UPDATE_TRANSACTIONS = `
  update transactions t
     set status = w.status, amount_minor = w.amount_minor, amount_micros = w.amount_micros,
         open_micros = w.open_micros, held_micros = w.held_micros,
         captured_micros = w.captured_micros, refunded_micros = w.refunded_micros,
         settled_at = w.settled_at, expires_at = w.expires_at,
         version = t.version + w.changes, updated_at = $13
    from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],
                $7::bigint[], $8::bigint[], $9::bigint[], $10::timestamptz[], $11::timestamptz[],
                $12::bigint[])
           as w (account_id, id, status, amount_minor, amount_micros, open_micros, held_micros,
                 captured_micros, refunded_micros, settled_at, expires_at, changes)
   where t.account_id = w.account_id and t.id = w.id`

/** The version counts on from what is there: other rooms note disputes in these rows. */
export async function updateTransactions(
  tx: Tx,
  changed: ReadonlyMap<TransactionRow, bigint>,
  now: Date,
): Promise<void> {
  const rows = [...changed.keys()].sort(byKey)
  if (rows.length === 0) return
  const updated = await tx.run(UPDATE_TRANSACTIONS, [
    texts(rows, (row) => row.account_id),
    texts(rows, (row) => row.id),
    texts(rows, (row) => row.status),
    bigints(rows, (row) => row.amount_minor),
    bigints(rows, (row) => row.amount_micros),
    bigints(rows, (row) => row.open_micros),
    bigints(rows, (row) => row.held_micros),
    bigints(rows, (row) => row.captured_micros),
    bigints(rows, (row) => row.refunded_micros),
    moments(rows, (row) => row.settled_at),
    moments(rows, (row) => row.expires_at),
    bigints(rows, (row) => changed.get(row)),
    now,
  ])
  assert(updated === rows.length, 'every changed transaction was there')
}

function byKey(a: TransactionRow, b: TransactionRow): number {
  if (a.account_id !== b.account_id) return a.account_id < b.account_id ? -1 : 1
  return a.id < b.id ? -1 : 1
}
