import { fieldProblem } from '#contract/common_problems.ts'
import type { OperatorOutput } from '#contract/operator/operations.ts'
import type { Problem } from '#contract/problem.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { usdFromMicros } from '#kernel/money.ts'
import {
  type DayRow,
  loadDays,
  loadDeclineReasons,
  loadTotals,
  type ReasonRow,
} from './figures_store.ts'

type Figures = OperatorOutput<'operator_get_figures'>
type DayFigures = Figures['days'][number]

const DAY_MS = 24 * 3_600_000
const DAYS_MAX = 366
const DAYS_STANDARD = 30

/** Whole UTC days, both ends included. */
export const operatorGetFigures: OperatorHandler<'operator_get_figures'> = async (
  { tx, now },
  { from, to },
) => {
  const last = parseDay('to', to ?? now.toISOString().slice(0, 10))
  const first =
    from === undefined
      ? new Date(last.getTime() - (DAYS_STANDARD - 1) * DAY_MS)
      : parseDay('from', from)
  const span = Math.round((last.getTime() - first.getTime()) / DAY_MS) + 1
  if (span < 1 || span > DAYS_MAX) {
    throw invalid('from', `must be at most ${DAYS_MAX} days before to, and not after it`)
  }
  const range = { first, end: new Date(last.getTime() + DAY_MS) }
  const [days, reasons, sums] = await Promise.all([
    loadDays(tx, range),
    loadDeclineReasons(tx, range),
    loadTotals(tx),
  ])
  return {
    from: first.toISOString().slice(0, 10),
    to: last.toISOString().slice(0, 10),
    totals: {
      accounts: sums.accounts,
      accounts_suspended: sums.accounts_suspended,
      cards_active: sums.cards_active,
      treasuries_usd: usdFromMicros(sums.treasury_micros),
      cards_usd: usdFromMicros(sums.cards_micros),
      owed_usd: usdFromMicros(sums.owed_micros),
    },
    days: days.map((day) => dayView(day, reasons)),
  }
}

function dayView(row: DayRow, reasons: readonly ReasonRow[]): DayFigures {
  const requests = row.approved + row.declined
  const reasons_of_day = reasons.filter(({ day }) => day === row.day)
  return {
    day: row.day,
    accounts_opened: row.accounts_opened,
    deposited_usd: usdFromMicros(row.deposited_micros),
    withdrawn_usd: usdFromMicros(row.withdrawn_micros),
    approved: row.approved,
    declined: row.declined,
    approval_rate: requests === 0 ? null : Math.round((row.approved / requests) * 10_000) / 10_000,
    decline_reasons: Object.fromEntries(reasons_of_day.map(({ code, count }) => [code, count])),
    captured_usd: usdFromMicros(row.captured_micros),
    refunded_usd: usdFromMicros(row.refunded_micros),
    disputes_opened: row.disputes_opened,
  }
}

/** Accepts a date, or a UTC timestamp of which only the date counts. */
function parseDay(field: string, text: string): Date {
  const [date = ''] = /^[^T]+T[\d:.]+Z$/.test(text) ? text.split('T') : [text]
  const day = new Date(`${date}T00:00:00.000Z`)
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date)
  if (!isDay) throw invalid(field, 'must be a date like 2026-11-15')
  return day
}

function invalid(field: string, message: string): Problem {
  return fieldProblem('invalid_request', field, message)
}
