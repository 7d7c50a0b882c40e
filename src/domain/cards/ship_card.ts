import type { Card, Shipping } from '#contract/cards.ts'
import { Problem } from '#contract/problem.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { cardResource } from './card.ts'
import { changeCard, findCardOwner, lockCardOf, showCard } from './card_store.ts'

type ShippingUpdate = {
  id: string
  status: Shipping['status']
  carrier?: string
  tracking_number?: string
  tracking_url?: string
}

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
export async function shipCard(context: OperatorContext, update: ShippingUpdate): Promise<Card> {
  const { tx, now } = context
  const { id, status, ...tracking } = update
  const card = await lockCardOf(tx, await findCardOwner(tx, id), id)
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
  context.audit(card.account_id, { action: 'ship_card', resource: cardResource(card) })
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
