import { fieldProblem } from '#contract/common_problems.ts'
import type { Problem } from '#contract/problem.ts'
import type { SpentAmounts } from '#domain/ledger/ledger_store.ts'
import { CENT_MICROS, formatUsd, greatest, type Micros, microsFromUsd } from '#kernel/money.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'

export type LimitsInput = {
  per_transaction_usd?: number | null
  daily_usd?: number | null
  monthly_usd?: number | null
}

type LimitColumns = {
  per_transaction_micros: Micros | null
  daily_micros: Micros | null
  monthly_micros: Micros | null
}

const limits = [
  ['per_transaction_usd', 'per_transaction_micros', 'per_transaction_max_usd'],
  ['daily_usd', 'daily_micros', 'daily_max_usd'],
  ['monthly_usd', 'monthly_micros', 'monthly_max_usd'],
] as const

/** Returns the columns that were sent. A limit above the program's limit is refused. */
export function parseLimits(
  input: LimitsInput,
  spend_limits: SpendLimits,
  path = '',
): Partial<LimitColumns> {
  const columns: Partial<LimitColumns> = {}
  for (const [field, column, maximum] of limits) {
    const usd = input[field]
    if (usd === undefined) continue
    if (usd !== null && usd > spend_limits[maximum]) {
      throw aboveLimit(path + field, spend_limits[maximum])
    }
    columns[column] = usd === null ? null : microsFromUsd(usd)
  }
  return columns
}

const dollars = (usd: number): string => formatUsd(microsFromUsd(usd))

function aboveLimit(field: string, limit_usd: number): Problem {
  return fieldProblem('amount_out_of_range', field, `must be at most ${dollars(limit_usd)}`)
}

/** The UTC day and calendar month that limits are counted over. */
export type SpendingWindow = {
  day: string
  month_start: string
  daily_resets_at: Date
  monthly_resets_at: Date
}

export function spendingWindow(now: Date): SpendingWindow {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  return {
    day: dayOf(now.getTime()),
    month_start: dayOf(Date.UTC(year, month, 1)),
    daily_resets_at: new Date(Date.UTC(year, month, day + 1)),
    monthly_resets_at: new Date(Date.UTC(year, month + 1, 1)),
  }
}

/** Spending on a UTC day, and in its month so far. */
export type CardSpending = { day: string; daily: Micros; monthly: Micros }

const MONTH_LENGTH = 'YYYY-MM'.length
const monthOf = (day: string): string => day.slice(0, MONTH_LENGTH)

/**
 * The part of the recorded spending that still counts on `day`. If the recorded day is later, a
 * node whose clock is ahead has begun it, and all nodes count on that day.
 */
export function usageOn(
  day: string,
  last: { [Column in keyof SpentAmounts]: SpentAmounts[Column] | null } | undefined,
): CardSpending {
  const { spent_day = null, day_spent_micros = null, month_spent_micros = null } = last ?? {}
  const [daily, monthly] = [day_spent_micros ?? 0n, month_spent_micros ?? 0n]
  if (spent_day !== null && spent_day >= day) return { day: spent_day, daily, monthly }
  const isSameMonth = spent_day !== null && monthOf(spent_day) === monthOf(day)
  return { day, daily: 0n, monthly: isSameMonth ? monthly : 0n }
}

/** Checks the amount of one load, and the card balance after it. */
export function requireLoadAmount(
  field: string,
  { amount_micros, on_card_micros }: { amount_micros: Micros; on_card_micros: Micros },
  spend_limits: SpendLimits,
): void {
  const { load_min_usd, load_max_usd, card_balance_max_usd } = spend_limits
  const refuse = (message: string) => fieldProblem('amount_out_of_range', field, message)
  const min_micros = greatest(microsFromUsd(load_min_usd), CENT_MICROS)
  if (amount_micros < min_micros) throw refuse(`must be at least ${formatUsd(min_micros)}`)
  if (amount_micros > microsFromUsd(load_max_usd)) {
    throw refuse(`must be at most ${dollars(load_max_usd)}`)
  }
  if (on_card_micros + amount_micros > microsFromUsd(card_balance_max_usd)) {
    throw refuse(`would raise the card balance above ${dollars(card_balance_max_usd)}`)
  }
}
