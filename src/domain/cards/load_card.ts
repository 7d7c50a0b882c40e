import { chargeBudget, recordCharge } from '#domain/budgets/charge_budget.ts'
import type { Handler } from '#domain/context/context.ts'
import { spendLimitsOf } from '#domain/risk/spend_limits.ts'
import { formatUsd, microsFromUsd } from '#kernel/money.ts'
import { cardEvent, cardResource, describeCard, labelOf, requireNotCancelled } from './card.ts'
import { changeCard, findFunds, lockCardOf } from './card_store.ts'
import { cardTransferView, transferToCard } from './card_transfer.ts'
import { requireLoadAmount } from './limits.ts'

export const loadCard: Handler<'load_card'> = async (context, input) => {
  const { id, amount_usd } = input
  const { tx, caller, settings, now } = context
  const { account_id } = caller
  const [spend_limits, card, { balance_micros, held_micros }] = await Promise.all([
    spendLimitsOf(tx, account_id, settings),
    lockCardOf(tx, account_id, id),
    findFunds(tx, { account_id, id }, now),
  ])
  requireNotCancelled(card)
  const amount_micros = microsFromUsd(amount_usd)
  // Holds count too: releasing one must not raise the balance above the maximum.
  const on_card_micros = balance_micros + held_micros
  requireLoadAmount('amount_usd', { amount_micros, on_card_micros }, spend_limits)

  const charge = await chargeBudget(context, {
    operation: 'load_card',
    input,
    amount_micros,
    card_id: card.id,
    purpose: `load ${formatUsd(amount_micros)} onto ${labelOf(card)}`,
  })
  const [, transfer] = await Promise.all([
    changeCard(tx, card, { change: {}, now }),
    transferToCard(context, card, amount_micros),
  ])
  const movement_id = transfer.movement.id
  await recordCharge(context, charge, { movement_id, card_id: card.id })
  const view = await cardTransferView(context, transfer)
  const message = `${formatUsd(amount_micros)} loaded onto your ${describeCard(card)}.`
  const event = { type: 'card.loaded', message, amount_micros } as const
  context.emit(card.account_id, cardEvent(card, view.card, event))
  context.audit(card.account_id, { action: 'load_card', resource: cardResource(card) })
  return view
}
