import type { Handler } from '#domain/context/context.ts'
import { cardEvent, nameOf, resourceOf, shippingAfterCancel } from './card.ts'
import { changeCard, fundsOf, lockCardOf, showCard } from './card_store.ts'
import { unloadFrom } from './card_transfer.ts'

export const cancelCard: Handler<'cancel_card'> = async (context, { id }) => {
  const { tx, caller, now } = context
  const card = await lockCardOf(tx, caller.account_id, id)
  context.audit(card.account_id, { action: 'cancel_card', resource: resourceOf(card) })
  if (card.status === 'cancelled') return showCard(tx, card, now)

  // What is held stays until it is captured or released; only what is spendable goes back now.
  const { balance_micros } = await fundsOf(tx, card, now)
  if (balance_micros > 0n) await unloadFrom(context, card, balance_micros)
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
      message: `Your ${nameOf(card)} was canceled.`,
      previous_attributes: { status: card.status },
    }),
  )
  return view
}
