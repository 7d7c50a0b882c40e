import { fieldProblem } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import { giveBackBudget, recordCharge } from '#domain/budgets/charge_budget.ts'
import type { Handler } from '#domain/context/context.ts'
import { formatUsd, type Micros, microsFromUsd } from '#kernel/money.ts'
import { cardEvent, cardResource, describeCard } from './card.ts'
import { changeCard, findFunds, lockCardOf } from './card_store.ts'
import { cardTransferView, transferFromCard } from './card_transfer.ts'

export const unloadCard: Handler<'unload_card'> = async (context, { id, amount_usd }) => {
  const { tx, caller, now } = context
  const { account_id } = caller
  const [card, { balance_micros }] = await Promise.all([
    lockCardOf(tx, account_id, id),
    findFunds(tx, { account_id, id }, now),
  ])
  const amount_micros = parseUnloadAmount(amount_usd, balance_micros)

  const charge = await giveBackBudget(context, { card_id: card.id, amount_micros })
  const [, transfer] = await Promise.all([
    changeCard(tx, card, { change: {}, now }),
    transferFromCard(context, card, amount_micros),
  ])
  const movement_id = transfer.movement.id
  await recordCharge(context, charge, { movement_id, card_id: card.id })
  const view = await cardTransferView(context, transfer)
  const message = `${formatUsd(amount_micros)} unloaded from your ${describeCard(card)}.`
  const event = { type: 'card.unloaded', message, amount_micros } as const
  context.emit(card.account_id, cardEvent(card, null, event))
  context.audit(card.account_id, { action: 'unload_card', resource: cardResource(card) })
  return view
}

/** The whole available balance unless an amount is sent. Unloads have no minimum. */
function parseUnloadAmount(amount_usd: number | undefined, balance_micros: Micros): Micros {
  const amount_micros = amount_usd === undefined ? balance_micros : microsFromUsd(amount_usd)
  if (amount_usd !== undefined && amount_micros === 0n) {
    throw fieldProblem('amount_out_of_range', 'amount_usd', 'must be more than 0')
  }
  if (amount_micros > 0n) return amount_micros
  throw new Problem('insufficient_card_balance', 'This card has no available balance to unload.')
}
