import { DAY_MS, HOUR_MS } from '#test/simulation/model/amounts.ts'
import type { Choices } from './choices.ts'

/** Just before the ends of a day, a month, a leap February and a year, and an ordinary noon. */
const STARTS = [
  Date.UTC(2031, 2, 4, 12),
  Date.UTC(2031, 3, 30, 23, 50),
  Date.UTC(2032, 1, 27, 22),
  Date.UTC(2032, 1, 29, 23, 58),
  Date.UTC(2031, 11, 31, 23, 55),
]

export const startTime = (choices: Choices): number =>
  (choices.pick(STARTS) ?? 0) + choices.below(1_000)

const nextMidnight = (now: number): number => Math.floor(now / DAY_MS + 1) * DAY_MS

function nextMonth(now: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/** The clock goes on, mostly by seconds; two nodes' clocks differ by up to five seconds. */
export function nextTime(choices: Choices, now: number): number {
  const near = choices.below(4_000) - 2_000
  switch (choices.weighted({ seconds: 80, midnight: 6, hours: 5, days: 3, month: 2, back: 4 })) {
    case 'seconds':
      return now + choices.below(90_000)
    case 'midnight':
      return nextMidnight(now) + near
    case 'hours':
      return now + choices.below(12 * HOUR_MS)
    case 'days':
      return now + choices.below(9 * DAY_MS)
    case 'month':
      return nextMonth(now) + near
    case 'back':
      return now - choices.below(5_000)
  }
}
