import { spentOn } from '#domain/cards/limits.ts'
import type { Spent } from '#domain/ledger/ledger_store.ts'
import { cardPurse } from '#domain/ledger/purse.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { Micros } from '#kernel/money.ts'
import type { BatchState } from './batch_state.ts'
import type { CardFacts } from './facts.ts'

const least = (a: Micros, b: Micros): Micros => (a < b ? a : b)

/**
 * What counts towards a card's daily and monthly limits. A card's counters know one day, the last
 * one, and never go back to an earlier one; an authorization knows what it counted on that day.
 */
export function countSpending(state: BatchState, card: CardFacts, micros: Micros): void {
  if (micros === 0n) return
  card.spent.daily += micros
  card.spent.monthly += micros
  writeSpent(state, card)
}

/** Counts for an authorization, which remembers it, so that giving it back finds the same day. */
export function countFor(
  state: BatchState,
  card: CardFacts,
  {
    authorization,
    micros,
    already,
  }: { authorization: TransactionRow; micros: Micros; already: Micros },
): void {
  if (micros === 0n) return
  countSpending(state, card, micros)
  const { day } = card.spent
  const made_on =
    authorization.created_at === state.now ? state.window.day : dayOf(authorization.created_at)
  if (authorization.counted_day === null && made_on === day) return
  const before = spentOn(day, countedBy(authorization, already))
  authorization.counted_day = day
  authorization.counted_day_micros = before.daily + micros
  authorization.counted_month_micros = before.monthly + micros
  // A row of this batch is inserted without these: they are rare, and an update follows.
  if (!state.changed.has(authorization)) state.changed.set(authorization, 0n)
}

/**
 * Gives back what an authorization counted, the latest first. Only what it counted on the current
 * day and in the current month is left to give, and no counter ever falls below zero for it.
 */
export function giveBackSpending(
  state: BatchState,
  card: CardFacts,
  { authorization, micros }: { authorization: TransactionRow; micros: Micros },
): void {
  if (micros === 0n) return
  const { spent } = card
  const counted = spentOn(spent.day, countedBy(authorization, micros))
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

function writeSpent({ posting }: BatchState, { account_id, spent }: CardFacts): void {
  posting.countSpent(account_id, cardPurse(spent.card_id), {
    spent_day: spent.day,
    day_spent_micros: spent.daily,
    month_spent_micros: spent.monthly,
  })
}

/** Unless it says otherwise, an authorization counted all of it on the day it was made. */
function countedBy(authorization: TransactionRow, micros: Micros): Spent {
  return {
    spent_day: authorization.counted_day ?? dayOf(authorization.created_at),
    day_spent_micros: authorization.counted_day_micros ?? micros,
    month_spent_micros: authorization.counted_month_micros ?? micros,
  }
}

const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10)
