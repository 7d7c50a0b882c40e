import { usageOn } from '#domain/cards/limits.ts'
import { creditOf } from '#domain/disputes/dispute.ts'
import { cardPurse, payout, receivable, treasury } from '#domain/ledger/purse.ts'
import { topupView } from '#domain/topups/topup.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { microsFromUsd } from '#kernel/money.ts'
import { dayOf } from '#test/simulation/model/amounts.ts'
import type { Account, Card, Row } from '#test/simulation/model/state.ts'
import { cardView, viewOf } from '#test/simulation/model/view.ts'
import { type AccountRows, type CoreCard, findPurse } from './account_rows.ts'

export type Comparison = { model: Account; core: AccountRows; now: number; is_message: boolean }

/**
 * The first difference between the model and the core; null if there is none. Card messages don't
 * touch top-ups and withdrawals, so these are compared after calls only.
 */
export function findDifference({ model, core, now, is_message }: Comparison): string | null {
  return (
    moneyDifference(model, core) ??
    cardDifference(model, core, now) ??
    rowDifference(model, core) ??
    disputeDifference(model, core) ??
    (is_message ? null : transferDifference(model, core))
  )
}

/** Names the field if the two values differ. */
function differs(field: string, model: unknown, core: unknown): string | null {
  return model === core ? null : `${field}: the model has ${model}, the core ${core}`
}

const inPurse = (core: AccountRows, purse: typeof treasury): bigint =>
  findPurse(core, purse)?.balance_micros ?? 0n

function moneyDifference(model: Account, core: AccountRows): string | null {
  let reserved = 0n
  for (const { status, amount } of model.withdrawals.values()) {
    if (status !== 'failed') reserved += amount
  }
  return (
    differs('balance', model.balance, inPurse(core, treasury)) ??
    differs('owed', model.owed, -inPurse(core, receivable)) ??
    differs('reserved for withdrawals', reserved, inPurse(core, payout))
  )
}

function cardDifference(model: Account, core: AccountRows, now: number): string | null {
  if (model.cards.size !== core.cards.size) {
    return differs('cards', model.cards.size, core.cards.size)
  }
  for (const card of model.cards.values()) {
    const other = core.cards.get(card.name)
    if (other === undefined) return `card ${card.name} is not in the core`
    const difference = oneCard(card, { core, other, now })
    if (difference !== null) return `card ${card.name}: ${difference}`
  }
  return null
}

type OtherCard = { core: AccountRows; other: CoreCard; now: number }

/** Usage belongs to the last card of a chain of replacements. */
function oneCard(card: Card, { core, other, now }: OtherCard): string | null {
  const purse = findPurse(core, cardPurse(other.id))
  const difference =
    differs('status', card.status, other.status) ??
    differs('balance', card.balance, purse?.balance_micros ?? 0n) ??
    differs('held', card.held, purse?.held_micros ?? 0n) ??
    differs('used', card.is_used, other.cancel_reason === 'used') ??
    differs('usage', card.usage_kind, other.usage) ??
    differs('lock', card.lock?.name ?? null, other.merchant_lock_name) ??
    differs('lock id', card.lock?.id ?? null, other.merchant_lock_id) ??
    differs('valid until', card.valid_until, other.valid_until?.getTime() ?? null) ??
    failureDifference(card.failures, other.failed_at)
  if (difference !== null || card.replaced_by !== null) return difference
  const view = cardView(card, now)
  const spent = usageOn(dayOf(now), purse ?? undefined)
  return (
    differs('spent today', view.spent_daily, spent.daily) ??
    differs('spent this month', view.spent_monthly, spent.monthly)
  )
}

function failureDifference(model: readonly number[], core: readonly Date[]): string | null {
  if (model.length === 0 && core.length === 0) return null
  return differs('failed attempts', model.join(), core.map(Number).join())
}

function rowDifference(model: Account, core: AccountRows): string | null {
  const count = differs('transactions', model.rows.length, core.transactions.length)
  if (count !== null) return count
  for (const [at, row] of model.rows.entries()) {
    const difference = oneRow(row, core.transactions[at])
    if (difference !== null) return `transaction ${row.message} (${row.type}): ${difference}`
  }
  return null
}

/** Compared one by one and not as objects: this runs for every row after every step. */
function oneRow(row: Row, other: TransactionRow | undefined): string | null {
  if (other === undefined) return 'it is not in the core'
  if (row.type !== other.type) return differs('type', row.type, other.type)
  if (row.status !== other.status) return differs('status', row.status, other.status)
  if (row.open !== other.open_micros) return differs('open', row.open, other.open_micros)
  if (row.held !== other.held_micros) return differs('held', row.held, other.held_micros)
  if (row.amount !== other.amount_micros) return differs('amount', row.amount, other.amount_micros)
  if (row.minor !== other.amount_minor) return differs('minor', row.minor, other.amount_minor)
  if (row.captured !== other.captured_micros) {
    return differs('captured', row.captured, other.captured_micros)
  }
  if (row.refunded !== other.refunded_micros) {
    return differs('refunded', row.refunded, other.refunded_micros)
  }
  if (row.decline_code !== other.decline_code) {
    return differs('decline code', row.decline_code, other.decline_code)
  }
  if (row.message !== other.message_identity) {
    return differs('message', row.message, other.message_identity)
  }
  const expires_at = other.expires_at?.getTime() ?? null
  if (row.expires_at !== expires_at) return differs('expires_at', row.expires_at, expires_at)
  return null
}

function disputeDifference(model: Account, core: AccountRows): string | null {
  for (const [name, dispute] of model.disputes) {
    const other = core.disputes.get(name)
    if (other === undefined) return `dispute ${name} is not in the core`
    const difference =
      differs('status', dispute.status, other.status) ??
      differs('outcome', dispute.outcome, other.outcome) ??
      differs('closed_by', dispute.closed_by, other.closed_by) ??
      differs('credit', dispute.credit, creditOf(other))
    if (difference !== null) return `dispute ${name}: ${difference}`
  }
  return null
}

function transferDifference(model: Account, core: AccountRows): string | null {
  const others = { cards: new Map(), rows: [], disputes: new Map() }
  const { topups, withdrawals } = viewOf({ ...model, ...others }, 0)
  for (const [name, topup] of Object.entries(topups)) {
    const other = core.topups.get(name)
    if (other === undefined) return `top-up ${name} is not in the core`
    const view = topupView(other.row, 1)
    const difference =
      differs('status', topup.status, view.status) ??
      differs('reason', topup.reason, view.status_reason) ??
      differs('payment_state', topup.payment_state, view.payment_state) ??
      differs('received', topup.received, microsFromUsd(view.received_usd)) ??
      differs('credited', topup.credited, microsFromUsd(view.credited_usd))
    if (difference !== null) return `top-up ${name}: ${difference}`
  }
  for (const [name, { status }] of Object.entries(withdrawals)) {
    const difference = differs('status', status, core.withdrawals.get(name)?.status)
    if (difference !== null) return `withdrawal ${name}: ${difference}`
  }
  return null
}
