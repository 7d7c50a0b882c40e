import type { Static } from 'typebox'
import type { PendingConversion } from '#contract/operator/shapes.ts'
import { amountFromMinor } from '#iso8583/currencies.ts'
import { usdFromMicros } from '#kernel/money.ts'
import type { PendingClearingRow } from './pending_clearing_store.ts'

export const pendingConversionView = (
  row: PendingClearingRow,
): Static<typeof PendingConversion> => ({
  id: row.id,
  account_id: row.account_id,
  card_id: row.card_id,
  kind: row.kind,
  amount: amountFromMinor(row.amount_minor, row.currency),
  currency: row.currency,
  merchant_name: row.merchant_name,
  amount_usd: row.amount_micros === null ? null : usdFromMicros(row.amount_micros),
  created_at: row.created_at.toISOString(),
})
