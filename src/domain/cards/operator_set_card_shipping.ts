import type { Shipping } from '#contract/cards.ts'
import { Problem } from '#contract/problem.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { cardResource } from './card.ts'
import { changeCard, lockAnyCard, showCard } from './card_store.ts'

/** Final, except that a delivered card may be returned. */
const FINAL_STATUSES: readonly Shipping['status'][] = ['delivered', 'cancelled']

function canBecome(from: Shipping['status'], to: Shipping['status']): boolean {
  if (from === to || (from === 'delivered' && to === 'returned')) return true
  return to !== 'pending' && !FINAL_STATUSES.includes(from)
}

/**
 * Updates the shipping status of a physical card. The card manufacturer lists pending cards and
 * reports each step here. No status changes back to pending.
 */
export const operatorSetCardShipping: OperatorHandler<'operator_set_card_shipping'> = async (
  { tx, now, audit },
  { id, status, ...tracking },
) => {
  const card = await lockAnyCard(tx, id)
  const { shipping } = card
  if (shipping === null) throw shippingConflict('A virtual card has no shipping.')
  if (!canBecome(shipping.status, status)) {
    throw shippingConflict(`Shipping status cannot change from ${shipping.status} to ${status}.`)
  }
  await changeCard(tx, card, {
    change: {
      shipping: { ...shipping, ...tracking, ...timestamps(shipping, status, now), status },
    },
    now,
  })
  audit(card.account_id, { action: 'ship_card', resource: cardResource(card) })
  return showCard(tx, card, now)
}

function timestamps(
  shipping: Shipping,
  status: Shipping['status'],
  now: Date,
): Pick<Shipping, 'shipped_at' | 'delivered_at'> {
  const at = now.toISOString()
  const { shipped_at, delivered_at } = shipping
  const hasLeft = status === 'shipped' || status === 'delivered'
  return {
    shipped_at: shipped_at ?? (hasLeft ? at : null),
    delivered_at: delivered_at ?? (status === 'delivered' ? at : null),
  }
}

function shippingConflict(sentence: string): Problem {
  return new Problem('invalid_request', sentence, { status: 409 })
}
