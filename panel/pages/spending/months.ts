/** Months of the Spending page, as YYYY-MM. Days are UTC days, as in get_spending. */

export type MonthRange = { from: string; to: string }

export const monthOf = (at_ms: number): string => new Date(at_ms).toISOString().slice(0, 7)

export function shiftMonth(month: string, months: number): string {
  const at = new Date(`${month}-01T00:00:00.000Z`)
  return monthOf(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months))
}

export function daysIn(month: string): number {
  const at = new Date(`${month}-01T00:00:00.000Z`)
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()
}

export const rangeOf = (month: string): MonthRange => ({
  from: `${month}-01`,
  to: `${month}-${daysIn(month)}`,
})

export const dayOf = (month: string, date: number): string =>
  `${month}-${String(date).padStart(2, '0')}`

const format = new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const short_format = new Intl.DateTimeFormat('en-US', {
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
})

export const monthName = (month: string): string => format.format(new Date(month))

export const dayName = (day: string): string => short_format.format(new Date(day))
