import type { Spending } from '#contract/spending.ts'
import { dayName, dayOf, daysIn, monthName, monthOf, shiftMonth } from './months.ts'

type PreviousMonth = { month: string; now_ms: number }

/**
 * This month is compared with the same days of the month before: half a month against a whole one
 * would always look like saving.
 */
export function comparison(
  { total_usd }: Pick<Spending, 'total_usd'>,
  previous: Pick<Spending, 'total_usd' | 'data'>,
  { month, now_ms }: PreviousMonth,
): string {
  const is_running = shiftMonth(month, 1) === monthOf(now_ms)
  const date = new Date(now_ms).getUTCDate()
  const is_part = is_running && date < daysIn(month)
  const name = is_part ? daysName(month, date) : monthName(month)
  const before_usd = is_part ? spentUntil(previous.data, dayOf(month, date)) : previous.total_usd
  if (before_usd <= 0) return `Nothing spent ${is_part ? '' : 'in '}${name}`
  const percent = Math.round((total_usd / before_usd - 1) * 100)
  if (percent === 0) return `Same as ${name}`
  return `${Math.abs(percent)}% ${percent > 0 ? 'more' : 'less'} than ${name}`
}

/** "Oct 1–17" */
const daysName = (month: string, date: number): string =>
  date === 1 ? dayName(dayOf(month, 1)) : `${dayName(dayOf(month, 1))}–${date}`

const spentUntil = (rows: Spending['data'], day: string): number =>
  rows.filter(({ key }) => key <= day).reduce((sum, { spent_usd }) => sum + spent_usd, 0)
