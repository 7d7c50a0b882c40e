import type { OperatorHandler } from '#domain/operators/operator.ts'
import { cancelLockedCard } from './cancel_locked_card.ts'
import { lockAnyCard } from './card_store.ts'

export const operatorCancelCard: OperatorHandler<'operator_cancel_card'> = async (
  context,
  { id },
) => {
  const card = await lockAnyCard(context.tx, id)
  return cancelLockedCard(context, card, { cancel_reason: 'admin', by: ' by an administrator' })
}
