import { usageOn } from '#domain/cards/limits.ts'
import type { SpentAmounts } from '#domain/ledger/ledger_store.ts'
import { cardPurse } from '#domain/ledger/purse.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { least, type Micros } from '#kernel/money.ts'
import type { BatchState } from './batch_state.ts'
import type { CardState } from './card_state.ts'

/**
 * Counts an amount towards the card's daily and monthly limits. The counters hold the latest day
 * only and never return to an earlier one; each authorization stores what it counted on its day.
 */
export function countUsage(state: BatchState, card: CardState, micros: Micros): void {
  if (micros === 0n) return
  card.spent.daily += micros
  card.spent.monthly += micros
  writeSpent(state, card)
}

/** Counts an amount for an authorization and stores the day, so a reversal finds the same one. */
export function countAuthorization(
  state: BatchState,
  card: CardState,
  {
    authorization,
    micros,
    already,
  }: { authorization: TransactionRow; micros: Micros; already: Micros },
): void {
  if (micros === 0n) return
  countUsage(state, card, micros)
  const { day } = card.spent
  const made_on =
    authorization.created_at === state.now ? state.window.day : dayOf(authorization.created_at)
  if (authorization.counted_day === null && made_on === day) return
  const before = usageOn(day, countedBy(authorization, already))
  authorization.counted_day = day
  authorization.counted_day_micros = before.daily + micros
  authorization.counted_month_micros = before.monthly + micros
  // Inserts leave these columns out because they are rare; an update follows.
  if (!state.changed.has(authorization)) state.changed.set(authorization, 0n)
}

/**
 * Reverses what an authorization counted, the latest part first. Only amounts counted on the
 * current day and in the current month are reversed, and no counter falls below zero.
 */
export function reverseUsage(
  state: BatchState,
  card: CardState,
  { authorization, micros }: { authorization: TransactionRow; micros: Micros },
): void {
  if (micros === 0n) return
  const { spent } = card
  const counted = usageOn(spent.day, countedBy(authorization, micros))
  const daily = least(micros, counted.daily)
  const monthly = least(micros, counted.monthly)
  spent.daily -= least(daily, spent.daily)
  spent.monthly -= least(monthly, spent.monthly)
  if (authorization.counted_day !== null) {
    authorization.counted_day = counted.day
    authorization.counted_day_micros = counted.daily - daily
    authorization.counted_month_micros = counted.monthly - monthly
  }
  writeSpent(state, card)
}

/**
 * Stores what a single-message purchase counted, before its first reversal: a second one must not
 * give back what the first did.
 */
export function storeUsage(state: BatchState, authorization: TransactionRow, micros: Micros): void {
  if (authorization.counted_day !== null) return
  authorization.counted_day = dayOf(authorization.created_at)
  authorization.counted_day_micros = micros
  authorization.counted_month_micros = micros
  // The insert of a row that this batch made leaves these columns out.
  if (!state.changed.has(authorization)) state.changed.set(authorization, 0n)
}

function writeSpent({ posting }: BatchState, { account_id, spent }: CardState): void {
  posting.countSpent(account_id, cardPurse(spent.card_id), {
    spent_day: spent.day,
    day_spent_micros: spent.daily,
    month_spent_micros: spent.monthly,
  })
}

/** By default an authorization counted everything on the day it was made. */
function countedBy(authorization: TransactionRow, micros: Micros): SpentAmounts {
  return {
    spent_day: authorization.counted_day ?? dayOf(authorization.created_at),
    day_spent_micros: authorization.counted_day_micros ?? micros,
    month_spent_micros: authorization.counted_month_micros ?? micros,
  }
}

export const dayOf = (timestamp: Date): string => timestamp.toISOString().slice(0, 10)
