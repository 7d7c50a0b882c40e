import type { Handler } from '#domain/context/context.ts'
import { cardEvent, cardResource, describeCard, frozenBy, requireNotCancelled } from './card.ts'
import { changeCard, lockCardOf, showCard } from './card_store.ts'

export const freezeCard: Handler<'freeze_card'> = async (context, { id }) => {
  const { tx, caller, now } = context
  const card = await lockCardOf(tx, caller.account_id, id)
  context.audit(card.account_id, { action: 'freeze_card', resource: cardResource(card) })
  requireNotCancelled(card)
  // The first freeze counts: another one changes nothing, frozen_by included, and emits no event.
  if (card.status === 'frozen') return showCard(tx, card, now)

  const frozen_by = frozenBy(caller)
  const freezer = frozen_by === 'agent' ? 'An agent' : 'You'
  await changeCard(tx, card, { change: { status: 'frozen', frozen_by, frozen_at: now }, now })
  const view = await showCard(tx, card, now)
  context.emit(
    card.account_id,
    cardEvent(card, view, {
      type: 'card.frozen',
      message: `${freezer} froze your ${describeCard(card)}.`,
      previous_attributes: { status: card.status },
    }),
  )
  return view
}
