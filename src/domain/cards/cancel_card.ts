import type { Handler } from '#domain/context/context.ts'
import { cardEvent, cardResource, describeCard, shippingAfterCancel } from './card.ts'
import { changeCard, findFunds, lockCardOf, showCard } from './card_store.ts'
import { transferFromCard } from './card_transfer.ts'

export const cancelCard: Handler<'cancel_card'> = async (context, { id }) => {
  const { tx, caller, now } = context
  const card = await lockCardOf(tx, caller.account_id, id)
  context.audit(card.account_id, { action: 'cancel_card', resource: cardResource(card) })
  if (card.status === 'cancelled') return showCard(tx, card, now)

  // Held funds stay on the card until they are captured or released.
  const { balance_micros } = await findFunds(tx, card, now)
  if (balance_micros > 0n) await transferFromCard(context, card, balance_micros)
  await changeCard(tx, card, {
    change: {
      status: 'cancelled',
      cancel_reason: 'requested',
      cancelled_at: now,
      shipping: shippingAfterCancel(card.shipping),
    },
    now,
  })
  const view = await showCard(tx, card, now)
  context.emit(
    card.account_id,
    cardEvent(card, view, {
      type: 'card.cancelled',
      message: `Your ${describeCard(card)} was canceled.`,
      previous_attributes: { status: card.status },
    }),
  )
  return view
}
