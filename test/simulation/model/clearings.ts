import { clamp, least, most } from './amounts.ts'
import { useCard } from './cards.ts'
import type { CardAdvice, CardReversal, Charge, MerchantLock, Outcome } from './commands.ts'
import { reduceCredits } from './disputes.ts'
import { creditCard, debitCard, hold, payFromHold, release } from './money.ts'
import { capturesOf, findCleared, inCurrencyOf, inUsd, rowOfMessage } from './purchases.ts'
import { addAuthorization, addDecline, addRow, HOLD_MS } from './requests.ts'
import type { Account, Card, Row, Scope } from './state.ts'
import { count, giveBack } from './usage.ts'

const accepted: Outcome = { result: 'accepted' }

/** Messages about something that has happened. Freezes, cancellations and rules don't apply. */
export function acceptAdvice(scope: Scope, advice: CardAdvice): Outcome {
  return bookAdvice(scope, advice, { is_reviewed: false })
}

/** Books what an operator converted or approved, unless it was reversed in the meantime. */
export function bookClearing(scope: Scope, message: string, micros: bigint): Outcome {
  const { awaiting, early_reversals } = scope.account
  const advice = awaiting.get(message)
  if (advice === undefined) return { result: 'refused', code: 'not_found' }
  awaiting.delete(message)
  if (early_reversals.has(message)) return accepted
  const charge = { ...advice.charge, micros }
  return bookAdvice(scope, { ...advice, charge }, { is_reviewed: true })
}

function bookAdvice(
  scope: Scope,
  advice: CardAdvice,
  { is_reviewed }: { is_reviewed: boolean },
): Outcome {
  const { account } = scope
  const card = account.cards.get(advice.card)
  if (card === undefined || isReversedBefore(account, advice)) return accepted
  if (advice.op === 'advise_declined') {
    addDecline(scope, card, advice, [])
    return accepted
  }
  const { original, is_final = false } = advice
  const found = findCleared(account, card, advice)
  const purchase = found !== null && isPurchase(found, advice.op) ? found : null
  const charge = withUsd(advice.charge, purchase)
  const isForReview = !is_reviewed && advice.op === 'refund' && needsReview(scope, charge, purchase)
  if (charge === null || isForReview) {
    account.awaiting.set(advice.message, advice)
    return accepted
  }
  const message = { message: advice.message, rrn: advice.rrn, charge }
  const { merchant = UNKNOWN } = advice
  if (advice.op === 'advise') advise(scope, card, { ...message, merchant }, purchase)
  else if (advice.op === 'refund') refund(scope, card, message, { purchase, original })
  else capture(scope, card, message, { purchase, is_final })
  return accepted
}

/**
 * A reversal may overtake its message. In the right order nothing would be left of a refund or of
 * a stand-in approval; a capture's reversal has no effect in any order.
 */
const isReversedBefore = ({ early_reversals }: Account, { op, message }: CardAdvice): boolean =>
  (op === 'refund' || op === 'advise') && early_reversals.has(message)

/** A refund without a purchase, or the part above its captures, if an operator reviews those. */
function needsReview({ programme }: Scope, charge: Charge | null, purchase: Row | null): boolean {
  if (programme.refund_review === null || charge === null) return false
  const left = purchase === null ? 0n : most(0n, purchase.captured - purchase.refunded)
  return (charge.micros ?? 0n) - left > programme.refund_review
}

/** A refund may also name a forced post. */
const isPurchase = ({ type }: Row, op: CardAdvice['op']): boolean =>
  type === 'authorization' || (op === 'refund' && type === 'capture')

/** Without a USD amount, the rate of the purchase counts; without a purchase there is none. */
function withUsd(charge: Charge, purchase: Row | null): Charge | null {
  if (charge.micros !== null) return charge
  const { currency } = charge
  const hasRate =
    purchase !== null && purchase.amount > 0n && currency !== null && purchase.currency === currency
  return hasRate ? { ...charge, micros: inUsd(purchase, charge.minor) } : null
}

type MessageFields = { message: string; rrn: string | null; charge: Charge }

const UNKNOWN: MerchantLock = { name: '', id: null }

type AdviceFields = MessageFields & { merchant: MerchantLock }

/** A stand-in approval, or the final amount of a purchase (fuel). */
function advise(scope: Scope, card: Card, message: AdviceFields, purchase: Row | null): void {
  const { now } = scope.programme
  const { merchant } = message
  if (purchase === null && message.charge.micros === 0n) {
    useCard(scope, card, { merchant, amount: 0n })
    return
  }
  if (purchase === null) {
    const row = addAuthorization(scope, card, message)
    row.open = row.amount
    row.expires_at = now + HOLD_MS
    hold(card, row, row.amount)
    useCard(scope, card, { merchant, amount: row.amount })
    return
  }
  if (purchase.is_single_message) return
  const total = message.charge.micros ?? 0n
  const open = most(0n, total - purchase.captured)
  if (open > purchase.open) {
    hold(card, purchase, open - purchase.open)
    count(card.usage, now, open - purchase.open, purchase)
    purchase.open = open
  } else {
    lowerOpen(scope, card, purchase, open)
  }
  purchase.minor = inCurrencyOf(purchase, message.charge)
  purchase.amount = total
  purchase.expires_at = now + HOLD_MS
  const isCaptured = purchase.captured > 0n
  if (open === 0n) purchase.status = isCaptured ? 'captured' : 'reversed'
  else purchase.status = isCaptured ? 'partially_captured' : 'pending'
  useCard(scope, card, { merchant, amount: total })
}

/** Gives back the part of a purchase that will not be captured. */
function lowerOpen({ programme, account }: Scope, card: Card, purchase: Row, open: bigint): void {
  giveBack(card.usage, programme.now, purchase, purchase.open - open)
  purchase.open = open
  const excess = purchase.held - least(purchase.held, open)
  release(account, card, purchase, excess)
}

type CaptureContext = { purchase: Row | null; is_final: boolean }

/** Takes the hold first, then the card, then the treasury. A capture is never refused. */
function capture(
  scope: Scope,
  card: Card,
  message: MessageFields,
  { purchase, is_final }: CaptureContext,
): void {
  const { account, programme } = scope
  const amount = message.charge.micros ?? 0n
  const row = addRow(scope, card, {
    ...message,
    ...{ type: 'capture', status: 'settled', captured: amount, authorization: purchase },
  })
  const from_open = least(amount, purchase?.open ?? 0n)
  const from_hold = least(amount, purchase?.held ?? 0n)
  count(card.usage, programme.now, amount - from_open)
  if (purchase !== null) payFromHold(card, purchase, from_hold)
  debitCard(account, card, amount - from_hold)
  if (purchase === null) return
  const was_open = purchase.open
  purchase.captured += amount
  purchase.open -= from_open
  lowerOpen(scope, card, purchase, is_final ? 0n : purchase.open)
  takeEarlierRefunds(account, purchase, row)
  if (amount === 0n && purchase.open === was_open) return
  if (purchase.open > 0n) purchase.status = 'partially_captured'
  else purchase.status = purchase.captured > 0n ? 'captured' : 'reversed'
}

type RefundContext = { purchase: Row | null; original?: string | undefined }

function refund(
  scope: Scope,
  card: Card,
  message: MessageFields,
  { purchase, original }: RefundContext,
): void {
  const row = addRow(scope, card, {
    ...message,
    ...{ type: 'refund', status: 'settled', authorization: purchase?.authorization ?? null },
  })
  creditCard(scope.account, card, row.amount)
  if (purchase === null) return
  const named = rowOfMessage(scope.account, card, original)
  allocate(scope.account, row, purchase, named)
}

/** First the capture that the message names, then the others from the oldest. */
function allocate(account: Account, row: Row, purchase: Row, named: Row | null): void {
  if (purchase.type === 'authorization') purchase.refunded += row.amount
  const captures = capturesOf(account, purchase)
  const ordered = [
    ...captures.filter((capture) => capture === named),
    ...captures.filter((capture) => capture !== named),
  ]
  let left = row.amount
  for (const capture of ordered) {
    const amount = least(left, capture.captured - capture.refunded)
    if (amount === 0n) continue
    capture.refunded += amount
    row.shares.push({ capture, amount })
    left -= amount
  }
  for (const { capture } of row.shares) reduceCredits(account, capture)
}

/** The parts of earlier refunds that no capture has taken are for this one. */
function takeEarlierRefunds(account: Account, purchase: Row, capture: Row): void {
  for (const refund of account.rows) {
    const isOwn = refund.type === 'refund' && refund.authorization === purchase
    if (!isOwn || refund.status === 'reversed') continue
    const taken = refund.shares.reduce((sum, share) => sum + share.amount, 0n)
    const amount = least(refund.amount - taken, capture.captured - capture.refunded)
    if (amount === 0n) continue
    capture.refunded += amount
    refund.shares.push({ capture, amount })
  }
}

export function reverse(scope: Scope, reversal: CardReversal): Outcome {
  const { account } = scope
  const card = account.cards.get(reversal.card)
  const found = card === undefined ? null : rowOfMessage(account, card, reversal.original)
  if (found === null) account.early_reversals.add(reversal.original)
  if (card === undefined || found === null) return { result: 'original_unknown' }
  if (found.type === 'refund') reverseRefund(account, card, found)
  if (found.type !== 'authorization') return accepted
  const { replacement } = reversal
  const kept = replacement === null ? 0n : inUsd(found, replacement)
  if (found.is_single_message) {
    refundSingleMessage(scope, card, found, { kept, message: reversal.message, rrn: reversal.rrn })
    return accepted
  }
  if (found.open === 0n) return found.captured > 0n ? { result: 'no_action' } : accepted
  const open = clamp(kept - found.captured, found.open)
  lowerOpen(scope, card, found, open)
  if (open === 0n) found.status = found.captured > 0n ? 'partially_captured' : 'reversed'
  return accepted
}

type SingleMessageReversal = Pick<MessageFields, 'message' | 'rrn'> & { kept: bigint }

/** A single-message purchase has moved the money, so its reversal refunds what it took. */
function refundSingleMessage(
  scope: Scope,
  card: Card,
  purchase: Row,
  { kept, message, rrn }: SingleMessageReversal,
): void {
  const own = capturesOf(scope.account, purchase).find((row) => row.message === purchase.message)
  const amount = own === undefined ? 0n : own.captured - own.refunded - kept
  if (own === undefined || amount <= 0n) return
  const minor = purchase.amount === 0n ? 0n : (purchase.minor * amount) / purchase.amount
  const charge = { minor, currency: purchase.currency, micros: amount }
  const row = addRow(scope, card, {
    ...{ message, rrn, charge, type: 'refund', status: 'settled', authorization: purchase },
  })
  creditCard(scope.account, card, amount)
  giveBack(card.usage, scope.programme.now, purchase, amount)
  allocate(scope.account, row, purchase, own)
  if (kept === 0n) purchase.status = 'reversed'
}

function reverseRefund(account: Account, card: Card, refund: Row): void {
  if (refund.status === 'reversed') return
  refund.status = 'reversed'
  debitCard(account, card, refund.amount)
  const purchase = refund.authorization
  if (purchase !== null) purchase.refunded = most(0n, purchase.refunded - refund.amount)
  for (const { capture, amount } of refund.shares) {
    capture.refunded = most(0n, capture.refunded - amount)
  }
}

/** The hold was not captured within seven days. A later capture is still booked. */
export function expireAuthorization(
  scope: Scope,
  { message, is_early }: { message: string; is_early: boolean },
): Outcome {
  const { account, programme } = scope
  const row = account.rows.find((one) => one.message === message && one.type === 'authorization')
  const card = account.cards.get(row?.card ?? '')
  if (row === undefined || card === undefined) return { result: 'original_unknown' }
  const isOver = is_early || (row.expires_at ?? 0) <= programme.now
  if (row.open === 0n || !isOver) return accepted
  lowerOpen(scope, card, row, 0n)
  row.status = row.captured > 0n ? 'partially_captured' : 'expired'
  return accepted
}
