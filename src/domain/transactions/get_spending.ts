import { fieldProblem } from '#contract/common_problems.ts'
import { merchantGroupOf } from '#contract/merchant_groups.ts'
import { SPENDING_DAYS_MAX, type Spending, type SpendingGroup } from '#contract/spending.ts'
import type { Handler } from '#domain/context/context.ts'
import { findHistoryStart } from '#domain/ledger/history_start.ts'
import { usdFromMicros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { makeLabels } from './spending_labels.ts'
import { findSpending, type SpendingSum } from './spending_store.ts'
import { requireCardOf } from './transaction_store.ts'

const DAY_MS = 86_400_000

export const getSpending: Handler<'get_spending'> = async ({ tx, caller }, input) => {
  const { from, to, group_by, card_id } = input
  const range = requireRange(from, to)
  await requireKept(tx, range.first)
  const { account_id } = caller
  if (card_id !== undefined) await requireCardOf(tx, caller, card_id)
  const card_ids = card_id === undefined ? caller.card_ids : [card_id]
  const found = await findSpending(tx, { account_id, group_by, ...range, card_ids })
  const sums = group_by === 'category' ? byCategory(found) : found
  const labelOf = await makeLabels(tx, account_id, { group_by, keys: sums.map(({ key }) => key) })
  return {
    from,
    to,
    group_by,
    total_usd: usdFromMicros(sums.reduce((sum, row) => sum + row.spent_micros, 0n)),
    refunded_usd: usdFromMicros(sums.reduce((sum, row) => sum + row.refunded_micros, 0n)),
    declined_count: sums.reduce((count, { declined }) => count + declined, 0),
    data: sums
      .filter((row) => row.purchases > 0 || row.refunded_micros > 0n)
      .toSorted(isOfTime(group_by) ? byKey : bySpent)
      .map((row) => rowView(row, labelOf(row.key))),
  }
}

/** Both days belong to the range. */
function requireRange(from: string, to: string): { first: Date; end: Date } {
  const first = requireDay('from', from)
  const last = requireDay('to', to)
  if (last < first) throw fieldProblem('invalid_request', 'to', 'must not be before from')
  const end = new Date(last.getTime() + DAY_MS)
  if (end.getTime() - first.getTime() > SPENDING_DAYS_MAX * DAY_MS) {
    const message = `must be at most ${SPENDING_DAYS_MAX} days after from, both included`
    throw fieldProblem('invalid_request', 'to', message)
  }
  return { first, end }
}

/** Sums without the archived part of a range would look complete. */
async function requireKept(tx: Tx, first: Date): Promise<void> {
  const kept_from = await findHistoryStart(tx)
  if (kept_from === null || first >= kept_from) return
  const day = kept_from.toISOString().slice(0, 10)
  throw fieldProblem(
    'invalid_request',
    'from',
    `must not be before ${day}: earlier transactions are archived`,
  )
}

/** Date accepts February 30 and returns a day in March. */
function requireDay(field: 'from' | 'to', text: string): Date {
  const day = new Date(`${text}T00:00:00.000Z`)
  if (!Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)) return day
  throw fieldProblem('invalid_request', field, 'is not a valid date (YYYY-MM-DD)')
}

const isOfTime = (group_by: SpendingGroup) => ['day', 'week', 'month'].includes(group_by)

const byKey = (one: SpendingSum, other: SpendingSum) => (one.key < other.key ? -1 : 1)

function bySpent(one: SpendingSum, other: SpendingSum): number {
  if (one.spent_micros === other.spent_micros) return byKey(one, other)
  return one.spent_micros > other.spent_micros ? -1 : 1
}

/** A purchase has one merchant category code, so the counts of a group's codes add up. */
function byCategory(by_code: readonly SpendingSum[]): SpendingSum[] {
  const groups = new Map<string, SpendingSum>()
  for (const row of by_code) {
    const key = merchantGroupOf(row.key)
    const sum = groups.get(key)
    groups.set(key, {
      key,
      purchases: row.purchases + (sum?.purchases ?? 0),
      spent_micros: row.spent_micros + (sum?.spent_micros ?? 0n),
      refunded_micros: row.refunded_micros + (sum?.refunded_micros ?? 0n),
      declined: row.declined + (sum?.declined ?? 0),
    })
  }
  return [...groups.values()]
}

function rowView(row: SpendingSum, label: string): Spending['data'][number] {
  return {
    key: row.key,
    label,
    purchases: row.purchases,
    spent_usd: usdFromMicros(row.spent_micros),
    refunded_usd: usdFromMicros(row.refunded_micros),
    net_usd: usdFromMicros(row.spent_micros - row.refunded_micros),
  }
}
