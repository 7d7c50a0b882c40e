import type { BalancePoint } from '#contract/balance.ts'
import type { Handler } from '#domain/context/context.ts'
import { historyTypeOf, movementsOfHistory } from '#domain/ledger/movements.ts'
import { type BalancePointRow, readBalancePage } from '#domain/ledger/treasury_history.ts'
import { usdFromMicros } from '#kernel/money.ts'
import { anyOf, type Condition } from '#platform/postgres/page.ts'

export const getBalanceHistory: Handler<'get_balance_history'> = async ({ tx, caller }, input) => {
  const page = await readBalancePage(tx, input, [
    ['account_id = ?', caller.account_id],
    ...typeCondition(input.type),
    ...anyOf('reference_id', input.reference_id),
  ])
  return { ...page, data: page.data.map(balancePointView) }
}

function typeCondition(list: string | undefined): Condition[] {
  return list === undefined ? [] : [['movement = any(?)', movementsOfHistory(list.split(','))]]
}

function balancePointView(point: BalancePointRow): BalancePoint {
  const isDebit = point.from_kind === 'treasury'
  return {
    id: point.id,
    type: historyTypeOf(point.movement),
    amount_usd: usdFromMicros(isDebit ? -point.amount_micros : point.amount_micros),
    balance_usd: usdFromMicros(point.balance_micros),
    reference: { type: point.reference_type, id: point.reference_id },
    description: point.description,
    created_at: point.created_at.toISOString(),
  }
}
