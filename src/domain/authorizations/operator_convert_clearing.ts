import { fieldProblem } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { decimalsOf, microsFromUsd } from '#kernel/money.ts'
import { lockWaiting, setPrice } from './pending_clearing_store.ts'
import { pendingConversionView } from './pending_conversion.ts'

const CENT_DECIMALS = 2

/** The amount can be entered once; an adjustment corrects a mistake. */
export const operatorConvertClearing: OperatorHandler<'operator_convert_clearing'> = async (
  context,
  { id, amount_usd },
) => {
  const row = await lockWaiting(context.tx, id, 'conversion')
  if (row === null) throw new Problem('not_found', 'No such clearing awaiting conversion.')
  if (row.amount_micros !== null) {
    throw new Problem('invalid_request', 'The USD amount was already entered.', { status: 409 })
  }
  if (!(amount_usd > 0) || decimalsOf(amount_usd) > CENT_DECIMALS) {
    throw fieldProblem('invalid_amount', 'amount_usd', 'must be more than 0, in whole cents')
  }
  const amount_micros = microsFromUsd(amount_usd)
  await setPrice(context.tx, row, amount_micros)
  const resource = { type: 'card', id: row.card_id }
  context.audit(row.account_id, { action: 'price_clearing', resource })
  return pendingConversionView({ ...row, amount_micros })
}
