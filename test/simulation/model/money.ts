import { least, type Micros } from './amounts.ts'
import type { Account, Card, Row } from './state.ts'

/** The ways money moves. Contract 10.1: money that comes in pays what the account owes first. */

/** Pays the debt from an amount that came in, and returns the rest. */
function payDebt(account: Account, amount: Micros): Micros {
  const paid = least(account.owed, amount)
  account.owed -= paid
  return amount - paid
}

export function creditTreasury(account: Account, amount: Micros): void {
  account.balance += payDebt(account, amount)
}

/** Refunds and released holds of a cancelled card go to the treasury. */
export function creditCard(account: Account, card: Card, amount: Micros): void {
  if (card.status === 'cancelled') creditTreasury(account, amount)
  else card.balance += payDebt(account, amount)
}

/** The treasury pays; the account owes the rest. */
export function debitTreasury(account: Account, amount: Micros): void {
  const paid = least(account.balance, amount)
  account.balance -= paid
  account.owed += amount - paid
}

/** The card pays, then the treasury; the account owes the rest. */
export function debitCard(account: Account, card: Card, amount: Micros): void {
  const paid = least(card.balance, amount)
  card.balance -= paid
  debitTreasury(account, amount - paid)
}

/** Holds as much as the card has: a stand-in approval may be more. */
export function hold(card: Card, row: Row, amount: Micros): void {
  const held = least(amount, card.balance)
  card.balance -= held
  card.held += held
  row.held += held
}

export function release(account: Account, card: Card, row: Row, amount: Micros): void {
  card.held -= amount
  row.held -= amount
  creditCard(account, card, amount)
}

/** The network gets held money. */
export function payFromHold(card: Card, row: Row, amount: Micros): void {
  card.held -= amount
  row.held -= amount
}
