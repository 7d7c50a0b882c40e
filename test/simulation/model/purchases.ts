import { CENT, type Micros } from './amounts.ts'
import type { Charge } from './commands.ts'
import type { Account, Card, Row } from './state.ts'

export type Reference = {
  rrn: string | null
  code_of?: string | undefined
  original?: string | undefined
}

const rowsOf = ({ rows }: Account, { name }: Card): Row[] => rows.filter((row) => row.card === name)

/** The row of a message. A single-message purchase has two; its authorization is first. */
export function rowOfMessage(account: Account, card: Card, message?: string): Row | null {
  return rowsOf(account, card).find((row) => row.message === message) ?? null
}

/**
 * The purchase with this reference number. A merchant may reuse the number, for example after a
 * decline: an approval wins, then a forced post; of several, the one whose approval code the
 * message carries, then an open one, then the newest.
 */
function rowOfNumber(account: Account, card: Card, { rrn, code_of }: Reference): Row | null {
  if (rrn === null) return null
  const approval = rowOfCode(account, card, code_of)
  const isFirst = (row: Row) => row.authorization === null || row.authorization === row
  const rank = (row: Row) =>
    (row.type === 'authorization' ? 8 : row.type === 'capture' ? 4 : 0) +
    (row === approval ? 2 : 0) +
    (row.open > 0n ? 1 : 0)
  let best: Row | null = null
  for (const row of rowsOf(account, card)) {
    if (row.rrn !== rrn || !isFirst(row)) continue
    if (best === null || rank(row) >= rank(best)) best = row
  }
  return best
}

/** An approval code is given to the authorization of a message. */
function rowOfCode(account: Account, card: Card, message?: string): Row | null {
  const found = message === undefined ? null : rowOfMessage(account, card, message)
  return found?.type === 'authorization' ? found : null
}

/** A clearing names its purchase by DE 37, then by DE 38, then by the message in DE 90. */
export function findCleared(account: Account, card: Card, reference: Reference): Row | null {
  const named = rowOfMessage(account, card, reference.original)
  return (
    rowOfNumber(account, card, reference) ??
    rowOfCode(account, card, reference.code_of) ??
    named?.authorization ??
    named
  )
}

/** An increment names its purchase by the message in DE 90 first. */
export function findOriginal(account: Account, card: Card, reference: Reference): Row | null {
  return (
    rowOfMessage(account, card, reference.original) ??
    rowOfNumber(account, card, reference) ??
    rowOfCode(account, card, reference.code_of)
  )
}

/** Part of a purchase in USD at the purchase's own rate, to the nearest cent. */
export function inUsd(purchase: Row, minor: bigint): Micros {
  if (purchase.minor === 0n) return 0n
  const micros = (purchase.amount * minor) / purchase.minor
  return ((micros + CENT / 2n) / CENT) * CENT
}

/** An amount in the currency of the purchase, at the purchase's own rate. */
export function inCurrencyOf(purchase: Row, { minor, currency, micros }: Charge): bigint {
  if (currency === purchase.currency || purchase.amount === 0n) return minor
  return ((micros ?? 0n) * purchase.minor + purchase.amount / 2n) / purchase.amount
}

/** The captures of a purchase, oldest first. */
export function capturesOf(account: Account, purchase: Row): Row[] {
  if (purchase.type === 'capture') return [purchase]
  return account.rows.filter((row) => row.type === 'capture' && row.authorization === purchase)
}
