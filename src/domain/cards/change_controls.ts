import type { Card } from '#contract/cards.ts'
import type { ActivityOnly, Context } from '#domain/context/context.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import { type CardRow, cardEvent, nameOf, requireNotCancelled, resourceOf } from './card.ts'
import { type CardChange, changeCard, showCard } from './card_store.ts'

type ControlsChange = {
  operation: string
  event: ActivityOnly
  what: string
  /** Asked once the state of the card allows a change; may refuse what was sent. */
  change(): CardChange
}

/** Sets limits or rules on a locked card. What is as it was is no change and tells nothing. */
export async function changeControls(
  { tx, now, emit, audit }: Context,
  card: CardRow,
  { operation, event, what, change }: ControlsChange,
): Promise<Card> {
  requireNotCancelled(card)
  audit(card.account_id, { action: operation, resource: resourceOf(card) })
  const wanted = change()
  if (isAsItWas(card, wanted)) return showCard(tx, card, now)

  await changeCard(tx, card, { change: wanted, now })
  const message = `The ${what} of your ${nameOf(card)} were changed.`
  emit(card.account_id, cardEvent(card, null, { type: event, message }))
  return showCard(tx, card, now)
}

function isAsItWas(card: CardRow, wanted: CardChange): boolean {
  const text = (value: unknown) => (typeof value === 'bigint' ? `${value}` : canonicalJson(value))
  return Object.entries(wanted).every(
    ([column, value]) => text(card[column as keyof CardChange]) === text(value),
  )
}
