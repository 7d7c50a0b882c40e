import type { Handler } from '#domain/context/context.ts'
import { cardEvent, freezerOf, nameOf, requireNotCancelled, resourceOf } from './card.ts'
import { changeCard, lockCardOf, showCard } from './card_store.ts'

export const freezeCard: Handler<'freeze_card'> = async (context, { id }) => {
  const { tx, caller, now } = context
  const card = await lockCardOf(tx, caller.account_id, id)
  context.audit(card.account_id, { action: 'freeze_card', resource: resourceOf(card) })
  requireNotCancelled(card)
  // Whoever froze it first keeps it frozen: a second freeze changes nothing and tells nothing.
  if (card.status === 'frozen') return showCard(tx, card, now)

  const frozen_by = freezerOf(caller)
  await changeCard(tx, card, { change: { status: 'frozen', frozen_by, frozen_at: now }, now })
  const view = await showCard(tx, card, now)
  context.emit(
    card.account_id,
    cardEvent(card, view, {
      type: 'card.frozen',
      message: `Your ${nameOf(card)} was frozen by ${frozen_by === 'agent' ? 'an agent' : 'you'}.`,
      previous_attributes: { status: card.status },
    }),
  )
  return view
}
