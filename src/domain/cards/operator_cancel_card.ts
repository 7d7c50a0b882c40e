import type { OperatorHandler } from '#domain/operators/operator.ts'
import { cardEvent, cardResource, describeCard, shippingAfterCancel } from './card.ts'
import { changeCard, findFunds, lockAnyCard, showCard } from './card_store.ts'
import { transferFromCard } from './card_transfer.ts'

export const operatorCancelCard: OperatorHandler<'operator_cancel_card'> = async (
  context,
  { id },
) => {
  const { tx, now } = context
  const card = await lockAnyCard(tx, id)
  context.audit(card.account_id, { action: 'cancel_card', resource: cardResource(card) })
  if (card.status === 'cancelled') return showCard(tx, card, now)

  const { balance_micros } = await findFunds(tx, card, now)
  if (balance_micros > 0n) await transferFromCard(context, card, balance_micros)
  await changeCard(tx, card, {
    change: {
      status: 'cancelled',
      cancel_reason: 'admin',
      cancelled_at: now,
      shipping: shippingAfterCancel(card.shipping),
    },
    now,
  })
  const view = await showCard(tx, card, now)
  const event = cardEvent(card, view, {
    type: 'card.cancelled',
    message: `Your ${describeCard(card)} was canceled by an administrator.`,
    previous_attributes: { status: card.status },
  })
  context.emit(card.account_id, event)
  return view
}
