import type { OperatorHandler } from '#domain/operators/operator.ts'
import { cardEvent, cardResource, describeCard, requireNotCancelled } from './card.ts'
import { changeCard, lockAnyCard, showCard } from './card_store.ts'

export const operatorFreezeCard: OperatorHandler<'operator_freeze_card'> = async (
  context,
  { id },
) => {
  const { tx, now } = context
  const card = await lockAnyCard(tx, id)
  context.audit(card.account_id, { action: 'freeze_card', resource: cardResource(card) })
  requireNotCancelled(card)
  if (card.frozen_by === 'admin') return showCard(tx, card, now)

  const frozen_at = card.frozen_at ?? now
  await changeCard(tx, card, { change: { status: 'frozen', frozen_by: 'admin', frozen_at }, now })
  const view = await showCard(tx, card, now)
  // The holder had already frozen it: only frozen_by changes, so there is no event.
  if (card.status === 'frozen') return view
  const event = cardEvent(card, view, {
    type: 'card.frozen',
    message: `An administrator froze your ${describeCard(card)}.`,
    previous_attributes: { status: card.status },
  })
  context.emit(card.account_id, event)
  return view
}
