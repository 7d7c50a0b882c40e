import type { Card } from '#contract/cards.ts'
import type { ActivityOnly } from '#contract/events.ts'
import type { Context } from '#domain/context/context.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import { type CardRow, cardEvent, cardResource, describeCard, requireNotCancelled } from './card.ts'
import { type CardChange, changeCard, showCard } from './card_store.ts'

type ControlsChange = {
  operation: string
  event: ActivityOnly
  /** The subject of the message to the holder, in the plural. */
  subject: string
  /** Validates the input. Called after the card's status was checked. */
  parse(): CardChange
}

/** Sets limits or rules on a locked card. Equal values change nothing and emit no event. */
export async function changeControls(
  { tx, now, emit, audit }: Context,
  card: CardRow,
  { operation, event, subject, parse }: ControlsChange,
): Promise<Card> {
  requireNotCancelled(card)
  audit(card.account_id, { action: operation, resource: cardResource(card) })
  const change = parse()
  if (isUnchanged(card, change)) return showCard(tx, card, now)

  const message = `The ${subject} of your ${describeCard(card)} were changed.`
  emit(card.account_id, cardEvent(card, null, { type: event, message }))
  const [, view] = await Promise.all([
    changeCard(tx, card, { change, now }),
    showCard(tx, card, now),
  ])
  return view
}

export function isUnchanged(card: CardRow, change: CardChange): boolean {
  const text = (value: unknown) => (typeof value === 'bigint' ? `${value}` : canonicalJson(value))
  return Object.entries(change).every(
    ([column, value]) => text(card[column as keyof CardChange]) === text(value),
  )
}
