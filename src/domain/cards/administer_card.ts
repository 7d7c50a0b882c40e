import type { Card } from '#contract/cards.ts'
import { cardNotFrozen } from '#contract/common_problems.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import {
  type CardRow,
  cardEvent,
  cardResource,
  describeCard,
  requireNotCancelled,
  shippingAfterCancel,
} from './card.ts'
import { changeCard, findCardOwner, findFunds, lockCardOf, showCard } from './card_store.ts'
import { transferFromCard } from './card_transfer.ts'

async function lockCard({ tx }: OperatorContext, id: string): Promise<CardRow> {
  return lockCardOf(tx, await findCardOwner(tx, id), id)
}

export async function freezeByAdmin(
  context: OperatorContext,
  { id }: { id: string },
): Promise<Card> {
  const { tx, now } = context
  const card = await lockCard(context, id)
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
    message: `Your ${describeCard(card)} was frozen by an administrator.`,
    previous_attributes: { status: card.status },
  })
  context.emit(card.account_id, event)
  return view
}

export async function unfreezeByAdmin(
  context: OperatorContext,
  { id }: { id: string },
): Promise<Card> {
  const { tx, now } = context
  const card = await lockCard(context, id)
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

export async function cancelByAdmin(
  context: OperatorContext,
  { id }: { id: string },
): Promise<Card> {
  const { tx, now } = context
  const card = await lockCard(context, id)
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
