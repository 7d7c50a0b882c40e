import type { Handler } from '#domain/context/context.ts'
import { cancelLockedCard } from './cancel_locked_card.ts'
import { lockCardOf } from './card_store.ts'

export const cancelCard: Handler<'cancel_card'> = async (context, { id }) => {
  const card = await lockCardOf(context.tx, context.caller.account_id, id)
  return cancelLockedCard(context, card, { cancel_reason: 'requested' })
}
