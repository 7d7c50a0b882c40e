import { rowSet } from '#platform/postgres/row_set.ts'
import { rowUpdate } from '#platform/postgres/row_update.ts'
import type { Write } from '#platform/postgres/write.ts'
import type { TransactionRow } from './transaction.ts'

const addTransactions = rowSet<TransactionRow>('transactions', {
  account_id: ['text', (row) => row.account_id],
  id: ['text', (row) => row.id],
  card_id: ['text', (row) => row.card_id],
  type: ['text', (row) => row.type],
  status: ['text', (row) => row.status],
  authorization_id: ['text', (row) => row.authorization_id],
  amount_minor: ['bigint', (row) => row.amount_minor],
  currency: ['text', (row) => row.currency],
  amount_micros: ['bigint', (row) => row.amount_micros],
  fx_rate: ['text', (row) => row.fx_rate],
  merchant_name: ['text', (row) => row.merchant_name],
  mcc: ['text', (row) => row.mcc],
  merchant_city: ['text', (row) => row.merchant_city],
  merchant_country: ['text', (row) => row.merchant_country],
  merchant_id: ['text', (row) => row.merchant_id],
  terminal_id: ['text', (row) => row.terminal_id],
  open_micros: ['bigint', (row) => row.open_micros],
  held_micros: ['bigint', (row) => row.held_micros],
  captured_micros: ['bigint', (row) => row.captured_micros],
  refunded_micros: ['bigint', (row) => row.refunded_micros],
  decline_code: ['text', (row) => row.decline_code],
  failed_rules: ['text[]', (row) => row.failed_rules],
  card_present: ['boolean', (row) => row.card_present],
  entry_mode: ['text', (row) => row.entry_mode],
  wallet: ['text', (row) => row.wallet],
  three_ds_result: ['text', (row) => row.three_ds_result],
  three_ds_challenge_id: ['text', (row) => row.three_ds_challenge_id],
  network: ['text', (row) => row.network],
  network_transaction_id: ['text', (row) => row.network_transaction_id],
  retrieval_reference_number: ['text', (row) => row.retrieval_reference_number],
  authorization_code: ['text', (row) => row.authorization_code],
  is_single_message: ['boolean', (row) => row.is_single_message],
  is_stand_in: ['boolean', (row) => row.is_stand_in],
  is_forced: ['boolean', (row) => row.is_forced],
  message_identity: ['text', (row) => row.message_identity],
  version: ['bigint', (row) => row.version],
  settled_at: ['timestamptz', (row) => row.settled_at],
  expires_at: ['timestamptz', (row) => row.expires_at],
  created_at: ['timestamptz', (row) => row.created_at],
  updated_at: ['timestamptz', (row) => row.updated_at],
})

export function newTransactions(rows: readonly TransactionRow[]): readonly Write[] {
  return rows.length === 0 ? [] : [addTransactions(rows)]
}

type ChangedTransaction = { row: TransactionRow; changes: bigint; now: Date }

/** Adds to the stored version, because filing a dispute increments it too. */
const updateTransactions = rowUpdate<ChangedTransaction>('transactions', {
  key: {
    account_id: ['text', ({ row }) => row.account_id],
    id: ['text', ({ row }) => row.id],
  },
  set: {
    status: ['text', ({ row }) => row.status],
    amount_minor: ['bigint', ({ row }) => row.amount_minor],
    amount_micros: ['bigint', ({ row }) => row.amount_micros],
    open_micros: ['bigint', ({ row }) => row.open_micros],
    held_micros: ['bigint', ({ row }) => row.held_micros],
    captured_micros: ['bigint', ({ row }) => row.captured_micros],
    refunded_micros: ['bigint', ({ row }) => row.refunded_micros],
    settled_at: ['timestamptz', ({ row }) => row.settled_at],
    expires_at: ['timestamptz', ({ row }) => row.expires_at],
    counted_day: ['date', ({ row }) => row.counted_day],
    counted_day_micros: ['bigint', ({ row }) => row.counted_day_micros],
    counted_month_micros: ['bigint', ({ row }) => row.counted_month_micros],
    version: ['bigint', ({ changes }) => changes, (changes) => `t.version + ${changes}`],
    updated_at: ['timestamptz', ({ now }) => now],
  },
})

/** Rows and how often each has changed. */
export function changedTransactions(
  changed: ReadonlyMap<TransactionRow, bigint>,
  now: Date,
): readonly Write[] {
  const rows = [...changed].map(([row, changes]) => ({ row, changes, now }))
  return rows.length === 0 ? [] : [updateTransactions(rows.sort((a, b) => byKey(a.row, b.row)))]
}

function byKey(a: TransactionRow, b: TransactionRow): number {
  if (a.account_id !== b.account_id) return a.account_id < b.account_id ? -1 : 1
  return a.id < b.id ? -1 : 1
}
