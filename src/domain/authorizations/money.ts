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
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { assert } from '#kernel/assert.ts'
import type { Micros } from '#kernel/money.ts'
import type { CardFacts } from './facts.ts'
import type { Work } from './work.ts'

/** The money of a purchase: which purse it leaves and where it goes, and what is owed. */
export function availableOn(work: Work, card: CardFacts): Micros {
  return work.posting.balanceOf(card.account_id, cardPurse(card.id))
}

export function owedBy(work: Work, card: CardFacts): Micros {
  return -work.posting.balanceOf(card.account_id, receivable)
}

type Step = { movement: MovementName; from: Purse; to: Purse; amount: Micros }

function move(work: Work, card: CardFacts, row: TransactionRow, step: Step): void {
  if (step.amount === 0n) return
  const posted = work.posting.move({
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

const least = (a: Micros, b: Micros): Micros => (a < b ? a : b)

/** Sets aside as much of an amount as the card has, and says how much that was. */
export function hold(work: Work, card: CardFacts, row: TransactionRow, amount: Micros): Micros {
  const held = least(amount, availableOn(work, card))
  const step = { from: cardPurse(card.id), to: holdPurse(card.id), amount: held }
  move(work, card, row, { movement: 'spend_held', ...step })
  return held
}

/** Back to the card; or to the treasury, where the card is no more. */
export function release(work: Work, card: CardFacts, row: TransactionRow, amount: Micros): void {
  const from = holdPurse(card.id)
  if (card.status === 'cancelled') {
    move(work, card, row, { movement: 'hold_returned', from, to: treasury, amount })
  } else {
    move(work, card, row, { movement: 'hold_released', from, to: cardPurse(card.id), amount })
  }
}

export function captureHeld(work: Work, card: CardFacts, row: TransactionRow, amount: Micros) {
  move(work, card, row, {
    movement: 'hold_captured',
    from: holdPurse(card.id),
    to: network,
    amount,
  })
}

/** Takes from the card, then from the treasury. The rest is owed: the network has been paid. */
export function take(work: Work, card: CardFacts, row: TransactionRow, amount: Micros): void {
  const owed_before = owedBy(work, card)
  const taken = least(amount, availableOn(work, card))
  const from_card = { from: cardPurse(card.id), to: network, amount: taken }
  move(work, card, row, { movement: 'spend_taken', ...from_card })
  const owed = { from: receivable, to: network, amount: amount - taken }
  move(work, card, row, { movement: 'spend_owed', ...owed })
  noteDebt(work, card, owed_before)
}

/** Tells the holder where the account owes more than it did before. */
function noteDebt(work: Work, card: CardFacts, owed_before: Micros): void {
  const { account_id } = card
  const owed_micros = owedBy(work, card)
  const added_micros = owed_micros - owed_before
  if (added_micros <= 0n) return
  work.events.push({ account_id, event: debtEvent({ account_id, added_micros, owed_micros }) })
}

export function giveBack(work: Work, card: CardFacts, row: TransactionRow, amount: Micros): void {
  if (card.status === 'cancelled') {
    move(work, card, row, { movement: 'refund_returned', from: network, to: treasury, amount })
  } else {
    const to = cardPurse(card.id)
    move(work, card, row, { movement: 'spend_refunded', from: network, to, amount })
  }
}
