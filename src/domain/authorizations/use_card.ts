import {
  type CardRow,
  cardEvent,
  cardView,
  describeCard,
  shippingAfterCancel,
} from '#domain/cards/card.ts'
import type { MerchantName } from '#domain/cards/merchant_lock.ts'
import { cardPurse, holdPurse, treasury } from '#domain/ledger/purse.ts'
import { assert } from '#kernel/assert.ts'
import { formatUsd } from '#kernel/money.ts'
import type { BatchState } from './batch_state.ts'
import type { CardState } from './card_state.ts'
import { availableBalance } from './money.ts'

type ApprovedAuthorization = MerchantName & { amount_micros: bigint }

/**
 * Applies an approved authorization to a card of limited usage, in the transaction of the
 * approval: a single-use card is canceled, a merchant-locked card gets its lock.
 */
export function useCard(
  state: BatchState,
  card: CardState,
  { amount_micros, merchant_name, merchant_id }: ApprovedAuthorization,
): void {
  if (card.usage === 'reusable' || card.status === 'cancelled') return
  if (card.usage === 'single_use') {
    if (amount_micros > 0n) cancelUsedCard(state, card)
    return
  }
  if (card.merchant_lock_name === null) lockToMerchant(state, card, { merchant_name, merchant_id })
}

/** As cancel_card does: the hold stays, and the rest of the balance returns to the treasury. */
function cancelUsedCard(state: BatchState, card: CardState): void {
  const row = state.single_use_cards.get(card.id)
  assert(row !== undefined, 'a single-use card that can be used is loaded completely')
  unloadRest(state, card)
  card.status = 'cancelled'
  card.cancel_reason = 'used'
  const used: CardRow = {
    ...row,
    status: 'cancelled',
    cancel_reason: 'used',
    cancelled_at: state.now,
    shipping: shippingAfterCancel(row.shipping),
    version: row.version + 1n,
    updated_at: state.now,
  }
  state.used_cards.push(used)
  const funds = {
    balance_micros: 0n,
    held_micros: state.posting.balanceOf(card.account_id, holdPurse(card.id)),
    spent_day_micros: card.spent.daily,
    spent_month_micros: card.spent.monthly,
  }
  const event = cardEvent(card, cardView({ ...used, ...funds }, state.now), {
    type: 'card.cancelled',
    message: `Your single-use ${describeCard(card)} made its purchase and was canceled.`,
    previous_attributes: { status: row.status },
  })
  state.events.push({ account_id: card.account_id, event })
}

function unloadRest(state: BatchState, card: CardState): void {
  const amount_micros = availableBalance(state, card)
  if (amount_micros === 0n) return
  const unloaded = state.posting.move({
    movement: 'card_unloaded',
    account_id: card.account_id,
    from: cardPurse(card.id),
    to: treasury,
    amount_micros,
    reference: { type: 'card_transfer', id: state.newId('ctr') },
    description: `${formatUsd(amount_micros)} unloaded from ${describeCard(card)}.`,
  })
  assert(unloaded !== null, 'the balance was read under the lock of its purse')
}

/** Activity only; webhooks see the lock in the card. */
function lockToMerchant(
  state: BatchState,
  card: CardState,
  { merchant_name, merchant_id }: MerchantName,
): void {
  card.merchant_lock_name = merchant_name
  card.merchant_lock_id = merchant_id
  state.locked_cards.push(card)
  const event = cardEvent(card, null, {
    type: 'card.merchant_locked',
    message: `Your ${describeCard(card)} now works only at ${merchant_name || 'one merchant'}.`,
  })
  state.events.push({ account_id: card.account_id, event })
}
