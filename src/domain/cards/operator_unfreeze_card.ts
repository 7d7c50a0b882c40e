import { cardNotFrozen } from '#contract/common_problems.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { cardEvent, cardResource, describeCard, requireNotCancelled } from './card.ts'
import { changeCard, lockAnyCard, showCard } from './card_store.ts'

export const operatorUnfreezeCard: OperatorHandler<'operator_unfreeze_card'> = async (
  context,
  { id },
) => {
  const { tx, now } = context
  const card = await lockAnyCard(tx, id)
  requireNotCancelled(card)
  if (card.status !== 'frozen') throw cardNotFrozen()
  await changeCard(tx, card, {
    change: { status: 'active', frozen_by: null, frozen_at: null },
    now,
  })
  const message = `Your ${describeCard(card)} was unfrozen.`
  context.emit(card.account_id, cardEvent(card, null, { type: 'card.unfrozen', message }))
  context.audit(card.account_id, { action: 'unfreeze_card', resource: cardResource(card) })
  return showCard(tx, card, now)
}
