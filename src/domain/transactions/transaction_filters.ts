import type { InputOfName } from '#contract/operations.ts'
import { microsFromUsd } from '#kernel/money.ts'
import { anyOf, type Condition } from '#platform/postgres/page.ts'

type Filters = Omit<InputOfName<'list_transactions'>, 'card_id'>

/** The filters both lists share, as conditions. */
export function transactionFilters(input: Filters): Condition[] {
  return [
    ...anyOf('type', input.type),
    ...anyOf('status', input.status),
    ...anyOf('mcc', input.mcc),
    ...merchantHolds(input.merchant),
    ...anyOf('merchant_country', input.country),
    ...anyOf('currency', input.currency),
    ...bound('amount_micros >= ?', input.amount_gte),
    ...bound('amount_micros <= ?', input.amount_lte),
    ...ofPurchase(input.authorization_id),
    ...anyOf('dispute_id', input.dispute_id),
  ]
}

/** What is searched for is text: its % and _ are letters, not wildcards. */
function merchantHolds(part: string | undefined): Condition[] {
  if (part === undefined) return []
  return [['merchant_name ilike ?', `%${part.replace(/[\\%_]/g, '\\$&')}%`]]
}

function bound(sql: string, usd: number | undefined): Condition[] {
  return usd === undefined ? [] : [[sql, microsFromUsd(usd)]]
}

/**
 * Said so that each side has an index: the authorization is found by its own id, and what belongs
 * to it by the index of captures and refunds.
 */
function ofPurchase(list: string | undefined): Condition[] {
  if (list === undefined) return []
  const ids = list.split(',')
  return [
    ['authorization_id = any(?)', ids],
    [`(type in ('capture', 'refund') or id = any(?))`, ids],
  ]
}
