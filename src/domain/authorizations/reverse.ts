import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { assert } from '#kernel/assert.ts'
import type { Micros } from '#kernel/money.ts'
import { type BatchState, change, type RequestOnCard } from './batch_state.ts'
import { releaseRemainder } from './capture.ts'
import type { CardState } from './card_state.ts'
import { creditCard, debitCard } from './money.ts'
import { convertPart, withUsdAmount } from './price.ts'
import { decision, emitTransactionEvent, minorOfPart } from './record.ts'
import { allocateRefund, recordRefund, reverseDisputeCredits } from './refund.ts'
import type { CardRequest, Decision } from './request.ts'
import { reverseUsage, storeUsage } from './spending.ts'

/**
 * Reverses all or part of a purchase. A reversal may arrive twice, late, or before the message it
 * reverses; that message is then declined when it arrives.
 */
export function reverse(state: BatchState, request: CardRequest): Decision {
  const card = state.cards.get(request.pan_hash)
  if (card === undefined) return recordEarlyReversal(state, request)
  const { original_identity } = request.reference
  const named = state.purchases.byOriginal(card, request.reference)
  const isOfPart = named !== null && state.purchases.isIncrement(original_identity, named)
  if (isOfPart && releasesNothing(request, named)) {
    return decision('no_action', { network: card.brand, transaction: named })
  }
  const isRepeated = isOfPart && isReversed(state, request)
  if (named === null || isOfPart) recordEarlyReversal(state, request)
  const found = named ?? findSimilar(state, card, request)
  if (found === null) return decision('original_unknown')
  if (isRepeated) return decision('noted', { network: card.brand, transaction: found })
  return reversePurchase(state, { card, request }, { found, isOfPart })
}

/**
 * A purchase with the same reference number can be another one: merchants use it again after a
 * decline, and for increments. So if the reversal names a message that is not known, the
 * authorization code must be that of the purchase. If the message is known and made nothing, such
 * as a refund that awaits review, nothing is reversed.
 */
function findSimilar(
  { purchases, answered }: BatchState,
  card: CardState,
  request: CardRequest,
): TransactionRow | null {
  const { original_identity, authorization_code } = request.reference
  const row = purchases.ofReversal(card, request)
  if (row === null || original_identity === null) return row
  if (answered.has(original_identity)) return null
  const isSame = authorization_code !== null && row.authorization_code === authorization_code
  return isSame ? row : null
}

/** `isOfPart` is true for the reversal of an increment. */
function reversePurchase(
  state: BatchState,
  { card, request }: RequestOnCard,
  { found, isOfPart }: { found: TransactionRow; isOfPart: boolean },
): Decision {
  const transaction = found
  const done = decision('noted', { network: card.brand, transaction })
  if (found.type === 'refund') {
    reverseRefund(state, card, found)
    return done
  }
  if (found.type !== 'authorization') return done
  if (found.is_single_message) {
    refundDebit(state, { card, request }, found)
    return done
  }
  if (found.open_micros > 0n) {
    const kept_micros = isOfPart ? amountWithoutPart(found, request) : amountAfter(found, request)
    reverseOpen(state, card, found, kept_micros)
    return done
  }
  return found.captured_micros > 0n ? { ...done, verdict: 'no_action' } : done
}

function recordEarlyReversal(state: BatchState, { reference }: CardRequest): Decision {
  if (reference.original_identity !== null) {
    state.new_early_reversals.add(reference.original_identity)
    state.early_reversals.add(reference.original_identity)
  }
  return decision('original_unknown')
}

/** True for the second reversal of an increment. One with a replacement amount can be repeated. */
const isReversed = (
  { early_reversals }: BatchState,
  { reference, replacement_minor }: CardRequest,
): boolean => replacement_minor === null && early_reversals.has(reference.original_identity ?? '')

/** The purchase's new USD amount. */
function amountAfter(
  authorization: TransactionRow,
  { charge, replacement_minor }: CardRequest,
): Micros {
  if (replacement_minor === null) return 0n
  const replacement = { currency: charge.currency, minor: replacement_minor }
  return convertPart(authorization, replacement)
}

/**
 * The reversal of an increment without an amount, or with one of unknown value. Releasing the whole
 * purchase would release what is still approved; a message with the amount may follow.
 */
const releasesNothing = (request: CardRequest, authorization: TransactionRow): boolean =>
  request.replacement_minor === null && partOf(authorization, request) === 0n

const partOf = (authorization: TransactionRow, request: CardRequest): Micros =>
  withUsdAmount(request, authorization)?.charge.micros ?? 0n

/**
 * An increment that timed out is reversed by its own amount: the rest of the purchase is still
 * approved.
 */
function amountWithoutPart(authorization: TransactionRow, request: CardRequest): Micros {
  if (request.replacement_minor !== null) return amountAfter(authorization, request)
  const { captured_micros, open_micros } = authorization
  return captured_micros + open_micros - partOf(authorization, request)
}

/** The hold never grows, and captured amounts are subtracted from it. */
function reverseOpen(
  state: BatchState,
  card: CardState,
  authorization: TransactionRow,
  kept_micros: Micros,
): void {
  const wanted = kept_micros - authorization.captured_micros
  const open_micros = clamped(wanted, authorization.open_micros)
  const released_micros = authorization.open_micros - open_micros
  if (released_micros === 0n) return
  releaseDownTo(state, card, authorization, { open_micros, status: 'reversed' })
  emitTransactionEvent(state, authorization, 'reversed', released_micros)
}

function clamped(wanted: Micros, most: Micros): Micros {
  if (wanted < 0n) return 0n
  return wanted < most ? wanted : most
}

export function releaseDownTo(
  state: BatchState,
  card: CardState,
  authorization: TransactionRow,
  { open_micros, status }: { open_micros: Micros; status: 'reversed' | 'expired' },
): void {
  const held_micros = clamped(open_micros, authorization.held_micros)
  releaseRemainder(state, card, authorization, {
    held: authorization.held_micros - held_micros,
    open: authorization.open_micros - open_micros,
  })
  const isClosed = open_micros === 0n
  const closed_status = authorization.captured_micros > 0n ? 'partially_captured' : status
  change(state, authorization, {
    open_micros,
    held_micros,
    status: isClosed ? closed_status : authorization.status,
  })
}

/**
 * A single-message purchase has moved the money, so its reversal is a refund. It returns what this
 * message took, and not what later captures of the purchase took.
 */
function refundDebit(
  state: BatchState,
  { card, request }: RequestOnCard,
  authorization: TransactionRow,
): void {
  const { message_identity } = authorization
  const captures = state.purchases.capturesOf(card, authorization)
  const own = captures.find((capture) => capture.message_identity === message_identity)
  assert(own !== undefined, 'a single-message purchase is captured by its own message')
  const kept = amountAfter(authorization, request)
  const amount = own.captured_micros - own.refunded_micros - kept
  if (amount <= 0n) return
  const row = recordRefund(state, { card, request }, authorization, {
    amount_micros: amount,
    amount_minor: minorOfPart(authorization, amount),
    currency: authorization.currency,
    fx_rate: authorization.fx_rate,
  })
  creditCard(state, card, row, amount)
  storeUsage(state, authorization, own.captured_micros)
  reverseUsage(state, card, { authorization, micros: amount })
  const refunded = allocateRefund(state, card, { row, authorization, first: own })
  // Part of the change that counted the refund: one message is one version.
  if (kept === 0n) authorization.status = 'reversed'
  emitTransactionEvent(state, row, 'refunded')
  reverseDisputeCredits(state, refunded)
}

/** Takes a refund back that the merchant sent by mistake. */
function reverseRefund(state: BatchState, card: CardState, refund: TransactionRow): void {
  if (refund.status === 'reversed') return
  debitCard(state, card, refund, refund.amount_micros)
  change(state, refund, { status: 'reversed' })
  const authorization = state.purchases.byId(card, refund.authorization_id)
  if (authorization !== null) subtractRefunded(state, authorization, refund.amount_micros)
  const { parts, new_parts } = state.refunds
  for (const { refund_id, capture_id, amount_micros } of [...parts, ...new_parts]) {
    const capture = refund_id === refund.id ? state.purchases.byId(card, capture_id) : null
    if (capture !== null) subtractRefunded(state, capture, amount_micros)
  }
  emitTransactionEvent(state, refund, 'refund_reversed')
}

function subtractRefunded(state: BatchState, row: TransactionRow, amount: Micros): void {
  const left = row.refunded_micros - amount
  change(state, row, { refunded_micros: left < 0n ? 0n : left })
}
