import type { Handler } from '#domain/context/context.ts'
import { cardEvent, cardResource, describeCard, requireUnfreezable } from './card.ts'
import { changeCard, lockCardOf, showCard } from './card_store.ts'

export const unfreezeCard: Handler<'unfreeze_card'> = async (context, { id }) => {
  const { tx, caller, now } = context
  const card = await lockCardOf(tx, caller.account_id, id)
  requireUnfreezable(card)

  await changeCard(tx, card, {
    change: { status: 'active', frozen_by: null, frozen_at: null },
    now,
  })
  const message = `Your ${describeCard(card)} was unfrozen.`
  context.emit(card.account_id, cardEvent(card, null, { type: 'card.unfrozen', message }))
  context.audit(card.account_id, { action: 'unfreeze_card', resource: cardResource(card) })
  return showCard(tx, card, now)
}
