import { fieldProblem } from '#contract/common_problems.ts'
import type { InputOfName } from '#contract/operations.ts'
import { isMccEntry } from '#domain/cards/controls.ts'
import { microsFromUsd } from '#kernel/money.ts'
import { anyOf, type Condition } from '#platform/postgres/page.ts'

type TransactionFilter = Omit<InputOfName<'list_transactions'>, 'card_id' | 'agent'>

/** The conditions that list_transactions and list_card_transactions share. */
export function transactionConditions(input: TransactionFilter): Condition[] {
  return [
    ...anyOf('type', input.type),
    ...statusCondition(input.status),
    ...mccCondition(input.mcc),
    ...merchantCondition(input.merchant),
    ...anyOf('merchant_country', input.country),
    ...anyOf('currency', input.currency),
    ...amountCondition('amount_micros >= ?', input.amount_gte),
    ...amountCondition('amount_micros <= ?', input.amount_lte),
    ...authorizationCondition(input.authorization_id),
    ...anyOf('dispute_id', input.dispute_id),
  ]
}

/** Declined purchases have an index, by their type. A parameter would hide it. */
function statusCondition(list: string | undefined): Condition[] {
  return list === 'declined' ? [[`type = 'decline'`]] : anyOf('status', list)
}

/** Codes and ranges, as in the rules of a card. */
function mccCondition(list: string | undefined): Condition[] {
  if (!list?.includes('-')) return anyOf('mcc', list)
  const wrong = list.split(',').find((entry) => !isMccEntry(entry))
  if (wrong !== undefined) {
    throw fieldProblem(
      'invalid_request',
      'mcc',
      `has the range ${wrong}, which ends before it starts`,
    )
  }
  const within = `mcc between left(r, 4) and right(r, 4)`
  return [[`exists (select from unnest(?::text[]) as r where ${within})`, list.split(',')]]
}

/** Escapes % and _, which are not wildcards for the caller. */
function merchantCondition(part: string | undefined): Condition[] {
  if (part === undefined) return []
  return [['merchant_name ilike ?', `%${part.replace(/[\\%_]/g, '\\$&')}%`]]
}

function amountCondition(sql: string, usd: number | undefined): Condition[] {
  return usd === undefined ? [] : [[sql, microsFromUsd(usd)]]
}

/**
 * The authorization and its captures and refunds. Written this way, PostgreSQL can use the primary
 * key for the first and the index of captures and refunds for the others.
 */
function authorizationCondition(list: string | undefined): Condition[] {
  if (list === undefined) return []
  const ids = list.split(',')
  return [
    ['authorization_id = any(?)', ids],
    [`(type in ('capture', 'refund') or id = any(?))`, ids],
  ]
}
