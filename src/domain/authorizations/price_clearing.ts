import { fieldProblem } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { amountFromMinor } from '#iso8583/currencies.ts'
import { decimalsOf, microsFromUsd, usdFromMicros } from '#kernel/money.ts'
import type { PageInput, PageOf } from '#platform/postgres/page.ts'
import { lockWaiting, pageOfUnpriced, setPrice, type UnpricedRow } from './unpriced_store.ts'

/** A capture, refund or stand-in that awaits conversion to USD. */
export type UnpricedClearing = {
  id: string
  account_id: string
  card_id: string
  kind: UnpricedRow['kind']
  amount: number
  currency: string
  merchant_name: string
  /** Null until an operator enters it; it is booked within seconds then. */
  amount_usd: number | null
  created_at: string
}

const viewOf = (row: UnpricedRow): UnpricedClearing => ({
  id: row.id,
  account_id: row.account_id,
  card_id: row.card_id,
  kind: row.kind,
  amount: amountFromMinor(row.amount_minor, row.currency),
  currency: row.currency,
  merchant_name: row.merchant_name,
  amount_usd: row.amount_micros === null ? null : usdFromMicros(row.amount_micros),
  created_at: row.created_at.toISOString(),
})

export async function findUnpricedClearings(
  { tx }: OperatorContext,
  input: PageInput,
): Promise<PageOf<UnpricedClearing>> {
  const page = await pageOfUnpriced(tx, input)
  return { ...page, data: page.data.map(viewOf) }
}

const CENT_DECIMALS = 2

/** The amount can be entered once; an adjustment corrects a mistake. */
export async function priceClearing(
  context: OperatorContext,
  { id, amount_usd }: { id: string; amount_usd: number },
): Promise<UnpricedClearing> {
  const row = await lockWaiting(context.tx, id, 'dollars')
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
  return viewOf({ ...row, amount_micros })
}
