import { Problem } from '#contract/problem.ts'
import type { Spent } from '#domain/ledger/ledger_store.ts'
import { type Micros, microsFromUsd } from '#kernel/money.ts'
import type { SpendLimits } from '#platform/config.ts'

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

/** What was sent of a holder's limits; one above the programme's own would promise too much. */
export function limitsFrom(
  input: LimitsInput,
  programme: SpendLimits,
  at = '',
): Partial<LimitColumns> {
  const columns: Partial<LimitColumns> = {}
  for (const [field, column, most] of limits) {
    const usd = input[field]
    if (usd === undefined) continue
    if (usd !== null && usd > programme[most]) throw aboveProgramme(at + field, programme[most])
    columns[column] = usd === null ? null : microsFromUsd(usd)
  }
  return columns
}

function aboveProgramme(field: string, most_usd: number): Problem {
  const message = `must not be above the programme's ${most_usd} USD`
  return new Problem('amount_out_of_range', `${field} ${message}.`, {
    details: [{ field, message }],
  })
}

/** The UTC day and calendar month of a moment: what limits are counted over. */
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

/** Of what was spent on a purse's last day and in its month, what still counts. */
export function spentWithin(
  { day, month_start }: SpendingWindow,
  spent: { [Column in keyof Spent]: Spent[Column] | null } | undefined,
): { daily: Micros; monthly: Micros } {
  const last = spent?.spent_day ?? ''
  return {
    daily: last >= day ? (spent?.day_spent_micros ?? 0n) : 0n,
    monthly: last >= month_start ? (spent?.month_spent_micros ?? 0n) : 0n,
  }
}

/** A load that the programme lets through: each one, and what is on the card with it. */
export function requireLoadAmount(
  field: string,
  { amount_micros, on_card_micros }: { amount_micros: Micros; on_card_micros: Micros },
  programme: SpendLimits,
): void {
  const { load_min_usd, load_max_usd, card_balance_max_usd } = programme
  const refuse = (message: string) =>
    new Problem('amount_out_of_range', `${field} ${message}.`, { details: [{ field, message }] })
  if (amount_micros <= 0n || amount_micros < microsFromUsd(load_min_usd)) {
    throw refuse(`must be at least ${load_min_usd} USD`)
  }
  if (amount_micros > microsFromUsd(load_max_usd)) {
    throw refuse(`must be at most ${load_max_usd} USD`)
  }
  if (on_card_micros + amount_micros > microsFromUsd(card_balance_max_usd)) {
    throw refuse(`would bring the card above ${card_balance_max_usd} USD`)
  }
}
