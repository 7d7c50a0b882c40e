import type { Transaction } from '#contract/transactions.ts'
import type { CsvColumn } from '#panel/ui/export_csv.tsx'
import { categoryName } from '#panel/words/categories.ts'
import { purchaseState, purchaseUsd } from './purchase.ts'

type Column = CsvColumn<Transaction>

const merchant: readonly Column[] = [
  ['merchant_name', (row) => row.merchant_name],
  ['category', (row) => categoryName(row.mcc)],
  ['mcc', (row) => row.mcc],
  ['merchant_country', (row) => row.merchant_country],
]
const original: readonly Column[] = [
  ['amount', (row) => row.amount],
  ['currency', (row) => row.currency],
]
const ids: readonly Column[] = [
  ['card_id', (row) => row.card_id],
  ['id', (row) => row.id],
]

/** One row per purchase, as on the screen. */
export const purchase_csv_columns: readonly Column[] = [
  ['created_at', (row) => row.created_at],
  ...merchant,
  ['status', purchaseState],
  ['amount_usd', purchaseUsd],
  ['captured_usd', (row) => row.captured_usd],
  ['refunded_usd', (row) => row.refunded_usd],
  ...original,
  ['decline_code', (row) => row.decline_code],
  ...ids,
]

/** One row per event, as in the API. */
export const event_csv_columns: readonly Column[] = [
  ['created_at', (row) => row.created_at],
  ...merchant,
  ['type', (row) => row.type],
  ['status', (row) => row.status],
  ['direction', (row) => row.direction],
  ['amount_usd', (row) => row.amount_usd],
  ...original,
  ['authorization_id', (row) => row.authorization_id],
  ...ids,
]
