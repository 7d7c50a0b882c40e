import type { BatchState } from '#domain/authorizations/batch_state.ts'
import type { CardRequest, RequestKind } from '#domain/authorizations/request.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { AccountRows } from './account_rows.ts'
import { type CoreState, rowsOf } from './core_state.ts'

/** Loading and storing transactions as the statements of the engine do. */

const NAMES_A_PURCHASE: ReadonlySet<RequestKind> = new Set<RequestKind>([
  ...(['increment', 'advise', 'capture', 'refund', 'reverse', 'expire'] as const),
])

/** Whole purchases that the messages name by reference number, code, message or id. */
export function loadPurchases(
  core: CoreState,
  accounts: readonly AccountRows[],
  batch: readonly CardRequest[],
): TransactionRow[] {
  const loaded: TransactionRow[] = []
  const naming = batch.filter(({ kind }) => NAMES_A_PURCHASE.has(kind))
  if (naming.length === 0) return loaded
  for (const { transactions, refund_parts } of accounts) {
    const named = new Set<string>()
    for (const { reference } of naming) addNamed(core, transactions, { reference, named })
    for (const row of transactions) {
      const isPart = row.type === 'capture' || row.type === 'refund'
      if (isPart && named.has(row.authorization_id ?? '')) named.add(row.id)
    }
    // Captures without an authorization are found through the refunds that name them.
    for (const part of refund_parts) if (named.has(part.refund_id)) named.add(part.capture_id)
    for (const row of transactions) if (named.has(row.id)) loaded.push(copyOf(row))
  }
  return loaded
}

type PurchaseNames = { reference: CardRequest['reference']; named: Set<string> }

function addNamed(
  { seen }: CoreState,
  transactions: readonly TransactionRow[],
  { reference, named }: PurchaseNames,
): void {
  const { transaction_id, original_identity } = reference
  const { retrieval_reference_number: number, authorization_code: code } = reference
  const of_message = original_identity === null ? null : seen.get(original_identity)
  for (const row of transactions) {
    const isAuthorization = row.authorization_id === null || row.authorization_id === row.id
    const isNamed =
      (number !== null && isAuthorization && row.retrieval_reference_number === number) ||
      (code !== null && row.type === 'authorization' && row.authorization_code === code) ||
      row.id === transaction_id ||
      row.id === of_message?.transaction_id
    if (isNamed) named.add(row.authorization_id ?? row.id)
  }
}

/** A row that is read again has other Date objects. */
const copyOf = (row: TransactionRow): TransactionRow => ({
  ...row,
  created_at: new Date(row.created_at),
})

/** Inserts leave the counted amounts out; only changed rows are updated. */
export function storeRows(core: CoreState, state: BatchState): void {
  for (const row of state.made) {
    const { transactions } = rowsOf(core, row.account_id)
    const stored = copyOf(row)
    if (!state.changed.has(row)) Object.assign(stored, NOT_COUNTED)
    transactions.push(stored)
  }
  const made = new Set(state.made)
  for (const row of state.changed.keys()) {
    if (made.has(row)) continue
    const { transactions } = rowsOf(core, row.account_id)
    const at = transactions.findIndex(({ id }) => id === row.id)
    transactions[at] = copyOf(row)
  }
  for (const part of state.refunds.new_parts) {
    rowsOf(core, part.account_id).refund_parts.push(part)
  }
  for (const dispute of state.refunds.changed_disputes) {
    const { disputes } = rowsOf(core, dispute.account_id)
    for (const [name, { id }] of disputes) if (id === dispute.id) disputes.set(name, dispute)
  }
}

const NOT_COUNTED = { counted_day: null, counted_day_micros: null, counted_month_micros: null }
