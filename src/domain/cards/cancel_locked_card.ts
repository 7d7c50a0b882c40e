import type { Card } from '#contract/cards.ts'
import type { Caller, Context } from '#domain/context/context.ts'
import { type CardRow, cardEvent, cardResource, describeCard, shippingAfterCancel } from './card.ts'
import { changeCard, findFunds, showCard } from './card_store.ts'
import { transferFromCard } from './card_transfer.ts'

type Cancellation = { cancel_reason: 'requested' | 'admin'; by?: string }

/** Cancels a card for its holder or an operator; one that is canceled already stays as it is. */
export async function cancelLockedCard(
  context: Context<Caller | null>,
  card: CardRow,
  { cancel_reason, by = '' }: Cancellation,
): Promise<Card> {
  const { tx, now } = context
  context.audit(card.account_id, { action: 'cancel_card', resource: cardResource(card) })
  if (card.status === 'cancelled') return showCard(tx, card, now)

  // Held funds stay on the card until they are captured or released.
  const { balance_micros } = await findFunds(tx, card, now)
  if (balance_micros > 0n) await transferFromCard(context, card, balance_micros)
  const shipping = shippingAfterCancel(card.shipping)
  await changeCard(tx, card, {
    change: { status: 'cancelled', cancel_reason, cancelled_at: now, shipping },
    now,
  })
  const view = await showCard(tx, card, now)
  context.emit(
    card.account_id,
    cardEvent(card, view, {
      type: 'card.cancelled',
      message: `Your ${describeCard(card)} was canceled${by}.`,
      previous_attributes: { status: card.status },
    }),
  )
  return view
}
