import { declineMessage } from '#contract/decline.ts'
import type { Transaction } from '#contract/transactions.ts'
import { amountFromMinor } from '#iso8583/currencies.ts'
import { type Micros, usdFromMicros } from '#kernel/money.ts'
import { timestampText } from '#kernel/timestamp.ts'

/**
 * A transaction is one step of a purchase: an authorization, decline, capture or refund. Steps are
 * appended; later ones only update the amounts and status of the row they belong to.
 */
export type TransactionRow = {
  account_id: string
  id: string
  card_id: string
  type: Transaction['type']
  status: Transaction['status']
  authorization_id: string | null
  amount_minor: bigint
  currency: string
  amount_micros: Micros
  fx_rate: string | null
  fee_micros: Micros
  merchant_name: string
  mcc: string
  merchant_city: string | null
  merchant_country: string | null
  merchant_id: string | null
  terminal_id: string | null
  /** The amount of an authorization that can still be captured. */
  open_micros: Micros
  /** Its part of the card's hold; less than `open_micros` only for a stand-in authorization. */
  held_micros: Micros
  captured_micros: Micros
  /** The usage it was counted as, if not all of it on the day it was created; otherwise null. */
  counted_day: string | null
  counted_day_micros: Micros | null
  counted_month_micros: Micros | null
  refunded_micros: Micros
  decline_code: string | null
  failed_rules: readonly string[]
  card_present: boolean
  entry_mode: Transaction['entry_mode']
  wallet: Transaction['wallet']
  three_ds_result: NonNullable<Transaction['three_ds']>['result'] | null
  three_ds_challenge_id: string | null
  network: Transaction['network']
  network_transaction_id: string | null
  retrieval_reference_number: string | null
  authorization_code: string | null
  is_single_message: boolean
  is_stand_in: boolean
  is_forced: boolean
  message_identity: string | null
  dispute_id: string | null
  version: bigint
  created_at: Date
  updated_at: Date
  settled_at: Date | null
  expires_at: Date | null
}

/** A clearing without a purchase may have no merchant. */
export const merchantText = ({ merchant_name }: Pick<TransactionRow, 'merchant_name'>): string =>
  merchant_name === '' ? 'an unknown merchant' : merchant_name

export function transactionView(row: TransactionRow): Transaction {
  return {
    id: row.id,
    card_id: row.card_id,
    type: row.type,
    status: row.status,
    authorization_id: row.authorization_id,
    amount: amountFromMinor(row.amount_minor, row.currency),
    currency: row.currency,
    amount_usd: usdFromMicros(row.amount_micros),
    fx_rate: row.fx_rate,
    fee_usd: usdFromMicros(row.fee_micros),
    direction: row.type === 'refund' ? 'credit' : 'debit',
    merchant_name: row.merchant_name,
    mcc: row.mcc,
    merchant_city: row.merchant_city,
    merchant_country: row.merchant_country,
    merchant_id: row.merchant_id,
    terminal_id: row.terminal_id,
    held_usd: usdFromMicros(row.held_micros),
    captured_usd: usdFromMicros(row.captured_micros),
    refunded_usd: usdFromMicros(row.refunded_micros),
    decline_code: row.decline_code,
    decline_message: row.decline_code === null ? null : declineMessage(row.decline_code),
    failed_rules: [...row.failed_rules],
    card_present: row.card_present,
    entry_mode: row.entry_mode,
    wallet: row.wallet,
    three_ds: threeDsView(row),
    network: row.network,
    network_transaction_id: row.network_transaction_id,
    retrieval_reference_number: row.retrieval_reference_number,
    authorization_code: row.authorization_code,
    dispute_id: row.dispute_id,
    version: Number(row.version),
    created_at: timestampText(row.created_at),
    updated_at: timestampText(row.updated_at),
    settled_at: row.settled_at === null ? null : timestampText(row.settled_at),
    expires_at: row.expires_at === null ? null : timestampText(row.expires_at),
  }
}

function threeDsView(row: TransactionRow): Transaction['three_ds'] {
  if (row.three_ds_result === null) return null
  return { result: row.three_ds_result, challenge_id: row.three_ds_challenge_id }
}
