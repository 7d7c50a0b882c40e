import { CENT, DAY_MS, USD } from './amounts.ts'
import { useCard } from './cards.ts'
import { addFailure, type CheckInput, challengeFor, codeResult, findFailedRules } from './checks.ts'
import type { CardRequest, Charge, Outcome } from './commands.ts'
import { debitCard, hold } from './money.ts'
import { findOriginal, inCurrencyOf } from './purchases.ts'
import type { Card, Challenge, Row, Scope } from './state.ts'
import { count } from './usage.ts'

export const HOLD_MS = 7 * DAY_MS

/** Decides a request: all checks, then the effect of an approval. */
export function decideRequest(scope: Scope, request: CardRequest): Outcome {
  const card = scope.account.cards.get(request.card)
  if (card === undefined) {
    return { result: 'declined', code: 'invalid_card', failed_rules: [], is_code_right: null }
  }
  const incremented = request.op === 'increment' ? incrementedBy(scope, card, request) : null
  const challenge = challengeFor(scope, request)
  const situation = { scope, card, request, incremented, challenge }
  const failed_rules = findFailedRules(situation)
  const is_code_right = codeResult(request, card, scope.programme.now)
  if (failed_rules.length === 0) {
    const amount = approve(situation, request.charge)
    const inquiry = request.op === 'balance' ? { available: card.balance } : {}
    return { result: 'approved', amount, is_code_right, ...inquiry }
  }
  const part = partOf(situation, failed_rules)
  if (part !== null) {
    const amount = approve(situation, part)
    return { result: 'approved', amount, minor: part.minor, is_code_right }
  }
  decline(situation, failed_rules)
  return { result: 'declined', code: failed_rules[0] ?? '', failed_rules, is_code_right }
}

/** An increment of an unknown or closed purchase is decided as a new purchase. */
function incrementedBy({ account }: Scope, card: Card, request: CardRequest): Row | null {
  const found = findOriginal(account, card, request)
  return found?.type === 'authorization' && found.open > 0n ? found : null
}

/** What the card has, in whole cents and at least a dollar, if only funds are missing. */
function partOf({ scope, card, request }: CheckInput, failed: readonly string[]): Charge | null {
  const { charge, op, is_partial_ok } = request
  const isWanted = scope.programme.partial_approvals && is_partial_ok && op === 'authorize'
  const lacksOnlyFunds = failed.length === 1 && failed[0] === 'insufficient_funds'
  if (!isWanted || !lacksOnlyFunds || scope.account.owed > 0n || !charge.micros) return null
  const micros = (card.balance / CENT) * CENT
  if (micros < USD) return null
  return { ...charge, micros, minor: (charge.minor * micros) / charge.micros }
}

/** Returns the approved amount. */
function approve(situation: CheckInput, charge: Charge): bigint {
  const { scope, card, request, incremented } = situation
  const { now } = scope.programme
  const amount = charge.micros ?? 0n
  const { merchant } = request
  if (request.op === 'verify') useCard(scope, card, { merchant, amount: 0n })
  if (request.op === 'verify' || request.op === 'balance' || request.op === 'credit') return amount
  if (incremented !== null) {
    growHold(scope, card, incremented, charge)
    useCard(scope, card, { merchant, amount })
    return amount
  }
  // A partial approval may fit a challenge that the whole amount exceeds.
  const challenge = challengeFor(scope, { ...request, charge })
  if (challenge !== null) challenge.is_used = true
  const row = addAuthorization(scope, card, { ...request, charge })
  row.three_ds = threeDsResult(request, challenge)
  if (request.op !== 'debit') {
    row.open = amount
    row.expires_at = now + HOLD_MS
    hold(card, row, amount)
    useCard(scope, card, { merchant, amount })
    return amount
  }
  row.status = 'captured'
  row.is_single_message = true
  row.captured = amount
  debitCard(scope.account, card, amount)
  addRow(scope, card, {
    ...{ message: request.message, rrn: request.rrn, charge },
    ...{ type: 'capture', status: 'settled', captured: amount, authorization: row },
  })
  useCard(scope, card, { merchant, amount })
  return amount
}

function growHold({ programme }: Scope, card: Card, row: Row, charge: Charge): void {
  const amount = charge.micros ?? 0n
  row.minor += inCurrencyOf(row, charge)
  row.amount += amount
  row.open += amount
  row.expires_at = programme.now + HOLD_MS
  hold(card, row, amount)
  count(card.usage, programme.now, amount, row)
}

/** A wrong CVV or expiry date counts as an attempt, whatever else was wrong. */
function decline(situation: CheckInput, failed_rules: string[]): void {
  const { scope, card, request, challenge } = situation
  const isAttempt =
    failed_rules.includes('cvv_mismatch') || failed_rules.includes('expiry_mismatch')
  if (isAttempt) addFailure(card, scope.programme.now)
  const row = addDecline(scope, card, request, failed_rules)
  row.three_ds = threeDsResult(request, challenge)
}

/** Contract 10.1: a challenge that does not apply counts as none. */
function threeDsResult(
  { challenge: named, entry_mode }: CardRequest,
  challenge: Challenge | null,
): string | null {
  if (challenge === null) return named !== undefined || entry_mode === 'ecommerce' ? 'none' : null
  const { status } = challenge
  return status === 'approved' || status === 'declined' ? status : 'timeout'
}

type MessageFields = { message: string; rrn: string | null; charge: Charge }

export function addDecline(
  scope: Scope,
  card: Card,
  request: MessageFields,
  failed_rules: readonly string[],
): Row {
  return addRow(scope, card, {
    ...{ message: request.message, rrn: request.rrn, charge: request.charge, failed_rules },
    ...{ type: 'decline', status: 'declined', decline_code: failed_rules[0] ?? 'do_not_honor' },
  })
}

/** A new authorization, counted as spent. */
export function addAuthorization(scope: Scope, card: Card, request: MessageFields): Row {
  const { message, rrn, charge } = request
  const row = addRow(scope, card, {
    ...{ message, rrn, charge, type: 'authorization', status: 'pending' },
  })
  row.authorization = row
  count(card.usage, scope.programme.now, row.amount, row)
  return row
}

export function addRow(
  { programme, account }: Scope,
  card: Card,
  {
    charge,
    ...fields
  }: Pick<Row, 'message' | 'rrn' | 'type' | 'status'> & {
    charge: Charge
  } & Partial<Row>,
): Row {
  const row: Row = {
    card: card.name,
    amount: charge.micros ?? 0n,
    minor: charge.minor,
    currency: charge.currency,
    open: 0n,
    held: 0n,
    captured: 0n,
    refunded: 0n,
    is_single_message: false,
    authorization: null,
    counted: [],
    shares: [],
    expires_at: null,
    created_at: programme.now,
    decline_code: null,
    failed_rules: [],
    three_ds: null,
    ...fields,
  }
  account.rows.push(row)
  return row
}
