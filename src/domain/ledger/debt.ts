import { Problem } from '#contract/problem.ts'
import type { NewEvent } from '#domain/context/context.ts'
import { formatUsd, type Micros } from '#kernel/money.ts'
import type { Move } from './movements.ts'
import { type Purse, treasury } from './purse.ts'

/**
 * An account's debt is its receivable purse below zero. Every movement follows these rules, so
 * handlers need no code for debts: incoming money pays them in the same transaction.
 */

/**
 * The purse that pays the debt after this movement; null if no money came in. Loads and
 * replacements only move money within the account.
 */
export function debtPayer({ from, to }: Pick<Move, 'from' | 'to'>): Purse | null {
  if (to.kind === 'treasury' || from.kind === 'receivable') return treasury
  const isIncoming = from.kind === 'hold' || from.kind === 'network'
  return to.kind === 'card' && isIncoming ? to : null
}

/** True if the receivable purse must be locked with the two purses of a movement. */
export function dependsOnDebt(move: Pick<Move, 'from' | 'to'>): boolean {
  return debtPayer(move) !== null || move.from.kind === 'treasury'
}

/** The movement that brought the money; the history shows the payment next to it. */
export type Cause = Pick<Move, 'account_id' | 'amount_micros' | 'reference'>

export function debtPayment(cause: Cause, payer: Purse, amount_micros: Micros): Move {
  return {
    movement: payer.kind === 'card' ? 'debt_paid_by_card' : 'debt_paid_by_treasury',
    account_id: cause.account_id,
    from: payer,
    to: { kind: 'receivable', owner_id: '' },
    amount_micros,
    reference: cause.reference,
    description: 'Paid toward the amount that this account owes.',
  }
}

/** The Problem for a movement that its purse does not cover. */
export function insufficient({ from }: Pick<Move, 'from'>, owed_micros: Micros): Problem {
  if (from.kind === 'card') {
    return new Problem('insufficient_card_balance', 'The card balance is too low.')
  }
  if (owed_micros === 0n) {
    return new Problem('insufficient_balance', 'Your balance is too low.')
  }
  const owed = formatUsd(owed_micros)
  return new Problem(
    'insufficient_balance',
    `You owe ${owed}. Money you add pays this first. Until then you can't load cards or ` +
      'withdraw.',
  )
}

type NewDebt = {
  account_id: string
  added_micros: Micros
  owed_micros: Micros
  /** A sentence with the cause of the debt. */
  reason: string
}

/** Activity and email only: the debt is a field of get_balance and get_account. */
export function debtEvent({ account_id, added_micros, owed_micros, reason }: NewDebt): NewEvent {
  const owed = formatUsd(owed_micros)
  return {
    type: 'balance.debt_incurred',
    message:
      `You owe ${owed}. ${reason} Money you add pays this first. Until then purchases are ` +
      "declined, and you can't load cards or withdraw.",
    severity: 'error',
    resource: { type: 'account', id: account_id },
    amount_micros: added_micros,
    object: null,
  }
}
