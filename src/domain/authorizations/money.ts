import { debtEvent } from '#domain/ledger/debt.ts'
import type { MovementName } from '#domain/ledger/movements.ts'
import {
  cardPurse,
  holdPurse,
  network,
  type Purse,
  receivable,
  treasury,
} from '#domain/ledger/purse.ts'
import { merchantText, type TransactionRow } from '#domain/transactions/transaction.ts'
import { assert } from '#kernel/assert.ts'
import { formatUsd, least, type Micros } from '#kernel/money.ts'
import type { BatchState } from './batch_state.ts'
import type { CardState } from './card_state.ts'

export function availableBalance(state: BatchState, card: CardState): Micros {
  return state.posting.balanceOf(card.account_id, cardPurse(card.id))
}

export function debtOf(state: BatchState, { account_id }: Pick<CardState, 'account_id'>): Micros {
  return -state.posting.balanceOf(account_id, receivable)
}

type Step = { movement: MovementName; from: Purse; to: Purse; amount: Micros }

function move(state: BatchState, card: CardState, row: TransactionRow, step: Step): void {
  if (step.amount === 0n) return
  const posted = state.posting.move({
    movement: step.movement,
    account_id: card.account_id,
    from: step.from,
    to: step.to,
    amount_micros: step.amount,
    reference: { type: 'transaction', id: row.id },
    description: row.merchant_name,
  })
  assert(posted !== null, 'what a purchase moves was there when it was decided')
}

/** Holds as much of the amount as the card has, and returns how much that was. */
export function hold(
  state: BatchState,
  card: CardState,
  row: TransactionRow,
  amount: Micros,
): Micros {
  const held = least(amount, availableBalance(state, card))
  const step = { from: cardPurse(card.id), to: holdPurse(card.id), amount: held }
  move(state, card, row, { movement: 'spend_held', ...step })
  return held
}

/** An open authorization expires, also one that holds less than its amount, or nothing. */
export function keepUntilExpiry(state: BatchState, card: CardState): void {
  state.posting.noteExpiry(card.account_id, cardPurse(card.id), state.expires_at)
}

/** Returns held money to the card, or to the treasury if the card is cancelled. */
export function release(
  state: BatchState,
  card: CardState,
  row: TransactionRow,
  amount: Micros,
): void {
  const from = holdPurse(card.id)
  if (card.status === 'cancelled') {
    move(state, card, row, { movement: 'hold_returned', from, to: treasury, amount })
  } else {
    move(state, card, row, { movement: 'hold_released', from, to: cardPurse(card.id), amount })
  }
}

export function captureHeld(
  state: BatchState,
  card: CardState,
  row: TransactionRow,
  amount: Micros,
) {
  move(state, card, row, {
    movement: 'hold_captured',
    from: holdPurse(card.id),
    to: network,
    amount,
  })
}

/** Debits the card. The rest becomes a debt, because the network has paid the merchant. */
export function debitCard(
  state: BatchState,
  card: CardState,
  row: TransactionRow,
  amount: Micros,
): void {
  const owed_before = debtOf(state, card)
  const taken = least(amount, availableBalance(state, card))
  const from_card = { from: cardPurse(card.id), to: network, amount: taken }
  move(state, card, row, { movement: 'spend_taken', ...from_card })
  const owed = { from: receivable, to: network, amount: amount - taken }
  move(state, card, row, { movement: 'spend_owed', ...owed })
  emitDebtEvent(state, row, owed_before)
}

/** Emits an event if the account's debt grew. */
function emitDebtEvent(state: BatchState, row: TransactionRow, owed_before: Micros): void {
  const { account_id } = row
  const owed_micros = debtOf(state, row)
  const added_micros = owed_micros - owed_before
  if (added_micros <= 0n) return
  const event = debtEvent({ account_id, added_micros, owed_micros, reason: reasonOf(row) })
  state.events.push({ account_id, event })
}

function reasonOf(row: TransactionRow): string {
  const amount = formatUsd(row.amount_micros)
  return row.type === 'refund'
    ? `${row.merchant_name || 'The merchant'} took back a refund of ${amount}.`
    : `A charge of ${amount} at ${merchantText(row)} was more than the card could pay.`
}

export function creditCard(
  state: BatchState,
  card: CardState,
  row: TransactionRow,
  amount: Micros,
): void {
  if (card.status === 'cancelled') {
    move(state, card, row, { movement: 'refund_returned', from: network, to: treasury, amount })
  } else {
    const to = cardPurse(card.id)
    move(state, card, row, { movement: 'spend_refunded', from: network, to, amount })
  }
}
