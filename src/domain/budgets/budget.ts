import type { SystemLimits } from '#contract/system.ts'
import type { BudgetDetail } from '#domain/credentials/grant_store.ts'
import { formatUsd, type Micros, usdFromMicros } from '#kernel/money.ts'

/**
 * This room guarantees that a grant never moves more out of the treasury than its budget without an
 * approval by the account owner: not in parallel, not over several grants or nodes, not around
 * midnight.
 */
export type Budget = {
  amount_micros: Micros
  period: 'day' | 'month' | 'total'
  /** A single call above this needs an approval, whatever is left. */
  ask_above_micros: Micros | null
}

/** As an entry of authorization_details (RFC 9396). */
export function detailOf({ amount_micros, period, ask_above_micros }: Budget): BudgetDetail {
  return {
    type: 'spend_budget',
    amount_usd: usdFromMicros(amount_micros),
    period,
    ...(ask_above_micros !== null && { ask_above_usd: usdFromMicros(ask_above_micros) }),
  }
}

/** The amounts that a client has moved on its last UTC day, in that day's month and in total. */
export type Usage = {
  day: string
  day_micros: Micros
  month_micros: Micros
  total_micros: Micros
  total_from: Date
}

export const unusedAt = (now: Date): Usage => ({
  day: now.toISOString().slice(0, 10),
  day_micros: 0n,
  month_micros: 0n,
  total_micros: 0n,
  total_from: now,
})

/** The usage at a time: a new day or month starts at zero. It never goes back to an earlier day. */
export function usageAt(usage: Usage, now: Date): Usage {
  const today = now.toISOString().slice(0, 10)
  if (today <= usage.day) return usage
  const isSameMonth = today.slice(0, 7) === usage.day.slice(0, 7)
  return {
    ...usage,
    day: today,
    day_micros: 0n,
    month_micros: isSameMonth ? usage.month_micros : 0n,
  }
}

function usedOf({ period }: Budget, usage: Usage): Micros {
  return usage[`${period}_micros`]
}

export function leftOf(budget: Budget, usage: Usage): Micros {
  const left = budget.amount_micros - usedOf(budget, usage)
  return left > 0n ? left : 0n
}

export function budgetView(budget: Budget, usage: Usage): NonNullable<SystemLimits['budget']> {
  const { amount_micros, period, ask_above_micros } = budget
  return {
    amount_usd: usdFromMicros(amount_micros),
    period,
    used_usd: usdFromMicros(usedOf(budget, usage)),
    resets_at: resetsAt(budget, usage)?.toISOString() ?? null,
    ask_above_usd: ask_above_micros === null ? null : usdFromMicros(ask_above_micros),
  }
}

function resetsAt({ period }: Budget, { day }: Usage): Date | null {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  if (period === 'total') return null
  return new Date(period === 'day' ? Date.UTC(year, month - 1, date + 1) : Date.UTC(year, month, 1))
}

const BUDGET_NAMES = {
  day: 'daily budget',
  month: 'monthly budget',
  total: 'total budget',
} as const

/** The rule that a call breaks: for the owner and, shorter, for the app. */
type BrokenRule = { summary: string; reason: string }

/**
 * `summary` continues "Shopper wants to load $120.00 onto Groceries ·· 8818; the app's …", and
 * `reason` is in the error message. If the call breaks both rules, it is the budget.
 */
export function describeBrokenRule(
  budget: Budget,
  usage: Usage,
  amount_micros: Micros,
): BrokenRule {
  const left_micros = leftOf(budget, usage)
  if (budget.ask_above_micros !== null && amount_micros <= left_micros) {
    const ask_above = formatUsd(budget.ask_above_micros)
    return { summary: `the app must ask above ${ask_above}`, reason: `it is above ${ask_above}` }
  }
  const amount = formatUsd(budget.amount_micros)
  const left = formatUsd(left_micros)
  return {
    summary: `the app's ${BUDGET_NAMES[budget.period]} is ${amount}, and ${left} is left`,
    reason: `${left} of the budget is left`,
  }
}
