import { fieldProblem } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { currencyOfLetters } from '#iso8583/currencies.ts'
import { formatUsd, greatest, type Micros, microsFromUsd } from '#kernel/money.ts'
import { lockWaiting, type PendingClearingRow, setPrice } from './pending_clearing_store.ts'
import { pendingConversionView } from './pending_conversion.ts'

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
  const amount_micros = microsFromUsd(amount_usd)
  requirePossible(row, amount_micros)
  await setPrice(context.tx, row, amount_micros)
  const resource = { type: 'card', id: row.card_id }
  context.audit(row.account_id, { action: 'price_clearing', resource })
  return pendingConversionView({ ...row, amount_micros })
}

/** The most valuable currency, the Kuwaiti dinar, is worth between 3 and 4 USD. */
const UNIT_MAX_MICROS = 5_000_000n

/** Not refused for any amount: a cent for 0.001 dinar is rounded up, not mistyped. */
const ALWAYS_POSSIBLE_MICROS = 1_000_000n

/** There is no table of rates: this stops a slip of two digits in most currencies, not in all. */
function requirePossible(
  { amount_minor, currency }: Pick<PendingClearingRow, 'amount_minor' | 'currency'>,
  amount_micros: Micros,
): void {
  if (amount_micros <= 0n) throw fieldProblem('invalid_amount', 'amount_usd', 'must be more than 0')
  const known = currencyOfLetters(currency)
  // Without a known currency, the number of decimals of its amount is not known either.
  if (known === null) return
  const max_micros = greatest(
    (amount_minor * UNIT_MAX_MICROS) / 10n ** BigInt(known.decimals),
    ALWAYS_POSSIBLE_MICROS,
  )
  if (amount_micros <= max_micros) return
  const [most, unit_most] = [formatUsd(max_micros), formatUsd(UNIT_MAX_MICROS)]
  const message = `must be at most ${most}: no currency is worth more than ${unit_most}`
  throw fieldProblem('amount_out_of_range', 'amount_usd', message)
}
