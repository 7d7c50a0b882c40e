import type { Handler } from '#domain/context/context.ts'
import { type CardRow, cardEvent, cardResource, describeCard } from './card.ts'
import { changeCard, lockCardOf, showCard } from './card_store.ts'
import { isUnchanged } from './change_controls.ts'

/** Works in every status: a name and metadata are the holder's own notes. */
export const updateCard: Handler<'update_card'> = async (context, { id, name, metadata }) => {
  const { tx, caller, now } = context
  const card = await lockCardOf(tx, caller.account_id, id)
  context.audit(card.account_id, { action: 'update_card', resource: cardResource(card) })
  const change = {
    ...(name !== undefined && { name }),
    ...(metadata !== undefined && { metadata: metadata ?? {} }),
  }
  if (isUnchanged(card, change)) return showCard(tx, card, now)

  await changeCard(tx, card, { change, now })
  context.emit(
    card.account_id,
    cardEvent(card, null, { type: 'card.updated', message: messageOf(card, change) }),
  )
  return showCard(tx, card, now)
}

function messageOf(card: CardRow, { name }: { name?: string | null }): string {
  if (name === undefined || name === card.name) {
    return `The metadata of your ${describeCard(card)} was changed.`
  }
  return name === null
    ? `The name of your ${describeCard(card)} was removed.`
    : `Your ${describeCard(card)} was renamed to “${name}”.`
}
