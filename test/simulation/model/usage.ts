import { dayOf, least, type Micros, monthOf } from './amounts.ts'
import type { Row, Usage } from './state.ts'

/**
 * Spending by UTC day and calendar month. Reversals and expiries give back on the day an amount was
 * counted on, the latest amount first. Counting never returns to an earlier day: the clocks of two
 * nodes may differ around midnight.
 */
const currentDay = (usage: Usage, now: number): string => {
  const today = dayOf(now)
  return usage.day > today ? usage.day : today
}

export function spentOn(usage: Usage, now: number): { daily: Micros; monthly: Micros } {
  const today = currentDay(usage, now)
  const month = monthOf(today)
  let monthly = 0n
  for (const [day, amount] of usage.days) if (day.startsWith(month)) monthly += amount
  return { daily: usage.days.get(today) ?? 0n, monthly }
}

const add = (usage: Usage, day: string, amount: Micros): void =>
  void usage.days.set(day, (usage.days.get(day) ?? 0n) + amount)

/** Counts an amount as spent now. A later reversal of `row` gives it back. */
export function count(usage: Usage, now: number, amount: Micros, row?: Row): void {
  if (amount === 0n) return
  usage.day = currentDay(usage, now)
  add(usage, usage.day, amount)
  row?.counted.push({ day: usage.day, amount })
}

export function giveBack(usage: Usage, now: number, row: Row, amount: Micros): void {
  if (amount === 0n) return
  usage.day = currentDay(usage, now)
  let left = amount
  for (const part of row.counted.toReversed()) {
    const back = least(left, part.amount)
    part.amount -= back
    left -= back
    add(usage, part.day, -back)
  }
}
