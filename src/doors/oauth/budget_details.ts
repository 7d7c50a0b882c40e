import { Problem } from '#contract/problem.ts'
import type { Budget } from '#domain/budgets/budget.ts'
import { decimalsOf, microsFromUsd, USD_MAX } from '#kernel/money.ts'
import { errors } from './library.ts'

const PERIODS: readonly unknown[] = ['day', 'month', 'total']

/** An entry of authorization_details (RFC 9396) that asks for a budget. */
export function requireBudgetDetail(detail: object): void {
  const { type: _type, amount_usd, period, ask_above_usd, ...others } = detail as BudgetFields
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalidDetails(`spend_budget has an unknown field: ${other}`)
  if (!isAmount(amount_usd)) throw invalidDetails('amount_usd must be an amount in US dollars')
  if (!PERIODS.includes(period)) throw invalidDetails('period must be day, month or total')
  if (ask_above_usd !== undefined && !isAmount(ask_above_usd)) {
    throw invalidDetails('ask_above_usd must be an amount in US dollars')
  }
}

type BudgetFields = Record<string, unknown>

/** Like every amount of a request: not negative, at most two decimals. */
function isAmount(value: unknown): value is number {
  if (typeof value !== 'number' || !(value >= 0 && value < USD_MAX)) return false
  return decimalsOf(value) <= 2
}

type BudgetDetail = { type: 'spend_budget'; amount_usd: number; ask_above_usd?: number } & Pick<
  Budget,
  'period'
>

/** Refused with the request: on the consent page the client would not learn of it. */
export function requireOneBudget(text: unknown): void {
  if (budgetDetails(text).length > 1) throw invalidDetails('only one spend_budget is allowed')
}

/** The budget that the client asks for; null if it asks for none. */
export function requestedBudget(text: unknown): Budget | null {
  const [detail] = budgetDetails(text)
  return detail === undefined ? null : budgetFrom(detail)
}

function budgetDetails(text: unknown): BudgetDetail[] {
  if (typeof text !== 'string') return []
  return (JSON.parse(text) as BudgetDetail[]).filter(({ type }) => type === 'spend_budget')
}

function budgetFrom({ amount_usd, period, ask_above_usd }: Omit<BudgetDetail, 'type'>): Budget {
  return {
    amount_micros: microsFromUsd(amount_usd),
    period,
    ask_above_micros: ask_above_usd === undefined ? null : microsFromUsd(ask_above_usd),
  }
}

/** The budget in a JSON body of the panel, with the fields of a spend_budget. */
export function readBudget(body: unknown): Budget {
  try {
    requireBudgetDetail(Object(body) as object)
  } catch (cause) {
    if (!(cause instanceof errors.InvalidAuthorizationDetails)) throw cause
    throw new Problem('invalid_request', `${cause.error_description}.`)
  }
  return budgetFrom(body as BudgetDetail)
}

function invalidDetails(message: string): Error {
  return new errors.InvalidAuthorizationDetails(message)
}
