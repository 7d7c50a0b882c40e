import type { Card, Shipping } from '#contract/cards.ts'
import { Problem } from '#contract/problem.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { resourceOf } from './card.ts'
import { cardOwner, changeCard, lockCardOf, showCard } from './card_store.ts'

type Progress = {
  id: string
  status: Shipping['status']
  carrier?: string
  tracking_number?: string
  tracking_url?: string
}

/** From here a card goes nowhere any more, but that what was delivered may come back. */
const ENDS: readonly Shipping['status'][] = ['delivered', 'cancelled']

function mayBecome(from: Shipping['status'], to: Shipping['status']): boolean {
  if (from === to || (from === 'delivered' && to === 'returned')) return true
  return to !== 'pending' && !ENDS.includes(from)
}

/**
 * How far a physical card has come, as whoever makes and posts it tells us: a maker asks for cards
 * that are pending and reports each step here. Nothing goes back to pending.
 */
export async function shipCard(context: OperatorContext, progress: Progress): Promise<Card> {
  const { tx, now } = context
  const { id, status, ...tracking } = progress
  const card = await lockCardOf(tx, await cardOwner(tx, id), id)
  const { shipping } = card
  if (shipping === null) throw refused('A virtual card has no shipping.')
  if (!mayBecome(shipping.status, status)) {
    throw refused(`Shipping status cannot change from ${shipping.status} to ${status}.`)
  }
  await changeCard(tx, card, {
    change: {
      shipping: { ...shipping, ...tracking, ...timestamps(shipping, status, now), status },
    },
    now,
  })
  context.audit(card.account_id, { action: 'ship_card', resource: resourceOf(card) })
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

function refused(sentence: string): Problem {
  return new Problem('invalid_request', sentence, { status: 409 })
}
