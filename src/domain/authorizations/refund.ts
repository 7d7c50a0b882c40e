import type { DeclineCode } from '#contract/decline.ts'
import { reverseCredit } from '#domain/disputes/dispute_money.ts'
import { findOverlaps, overlapEvent, reduceCredit } from '#domain/disputes/refund_overlap.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { least, type Micros } from '#kernel/money.ts'
import { type BatchState, change, type RequestOnCard } from './batch_state.ts'
import type { CardState } from './card_state.ts'
import { creditCard } from './money.ts'
import { holdForOperator, withUsdAmount } from './price.ts'
import { decision, declined, emitTransactionEvent, record, withMerchantOf } from './record.ts'
import { type CardRequest, canBeDeclined, type Decision } from './request.ts'

/** Credits a refund, with or without a known purchase. Refunds don't restore limits. */
export function refund(state: BatchState, request: CardRequest): Decision {
  const card = state.cards.get(request.pan_hash)
  const objection = canBeDeclined(request) ? findObjection(card, request) : null
  if (objection !== null) return declined(objection, { network: card?.brand ?? null })
  if (card === undefined) return decision('noted')
  const found = state.purchases.ofClearing(card, request)
  const authorization = found?.type === 'authorization' || found?.type === 'capture' ? found : null
  const named = state.purchases.byMessage(card, request.reference.original_identity)
  const known = withUsdAmount(request, authorization)
  if (known === null) return holdForOperator(state, card, withMerchantOf(authorization, request))
  if (needsReview(state, known, authorization)) {
    return holdForOperator(state, card, withMerchantOf(authorization, known), 'review')
  }
  const row = recordRefund(state, { card, request: known }, authorization)
  creditCard(state, card, row, row.amount_micros)
  const captures =
    authorization === null ? [] : allocateRefund(state, card, { row, authorization, first: named })
  emitTransactionEvent(state, row, 'refunded')
  reverseDisputeCredits(state, captures)
  return decision('noted', { network: card.brand, transaction: row })
}

/** A single message asks for the refund: an approval says that the customer has the money. */
function findObjection(card: CardState | undefined, { charge }: CardRequest): DeclineCode | null {
  if (card === undefined) return 'invalid_card'
  if (charge.currency === null) return 'currency_not_supported'
  return charge.minor === 0n ? 'invalid_amount' : null
}

/**
 * Nothing but the message proves a refund without a purchase, or the part above its captures.
 * Anyone who can send one could credit a card with any amount.
 */
function needsReview(
  { refund_review_micros: most }: BatchState,
  { charge, settles }: CardRequest,
  authorization: TransactionRow | null,
): boolean {
  if (most === null || settles !== null) return false
  const left =
    authorization === null ? 0n : authorization.captured_micros - authorization.refunded_micros
  const unfounded = (charge.micros ?? 0n) - (left > 0n ? left : 0n)
  return unfounded > most
}

export function recordRefund(
  state: BatchState,
  request_on_card: RequestOnCard,
  authorization: TransactionRow | null,
  fields: Partial<TransactionRow> = {},
): TransactionRow {
  const row = {
    type: 'refund',
    status: 'settled',
    authorization_id: authorization?.authorization_id ?? null,
    authorization_code: authorization?.authorization_code ?? null,
    settled_at: state.now,
    ...fields,
  } as const
  return record(state, request_on_card, row, authorization)
}

type RefundAllocation = {
  row: TransactionRow
  authorization: TransactionRow
  first: TransactionRow | null
}

/**
 * Allocates a refund to its authorization and to its captures: first the one the message names,
 * then the others from the oldest, each up to its captured amount. Returns those captures.
 */
export function allocateRefund(
  state: BatchState,
  card: CardState,
  { row, authorization, first }: RefundAllocation,
): TransactionRow[] {
  const { amount_micros } = row
  if (authorization.type === 'authorization') {
    change(state, authorization, { refunded_micros: authorization.refunded_micros + amount_micros })
  }
  const captures = state.purchases.capturesOf(card, authorization)
  const ordered = [
    ...captures.filter((capture) => capture === first),
    ...captures.filter((capture) => capture !== first),
  ]
  const counted: TransactionRow[] = []
  let left = amount_micros
  for (const capture of ordered) {
    const part = least(left, capture.captured_micros - capture.refunded_micros)
    if (part <= 0n) continue
    change(state, capture, { refunded_micros: capture.refunded_micros + part })
    recordPart(state, row, capture, part)
    counted.push(capture)
    left -= part
  }
  return counted
}

/**
 * Counts earlier refunds on a new capture, as far as no capture has covered them: a merchant may
 * refund a purchase before its capture arrives.
 */
export function countEarlierRefunds(
  state: BatchState,
  card: CardState,
  { authorization, capture }: { authorization: TransactionRow; capture: TransactionRow },
): void {
  for (const refund of state.purchases.refundsOf(card, authorization)) {
    const left = refund.amount_micros - coveredPartOf(state, refund)
    const part = least(left, capture.captured_micros - capture.refunded_micros)
    if (part <= 0n) continue
    // The capture is not stored yet, so this is no change of its own.
    capture.refunded_micros += part
    recordPart(state, refund, capture, part)
  }
}

function coveredPartOf({ refunds: { parts, new_parts } }: BatchState, { id }: TransactionRow) {
  const own = [...parts, ...new_parts].filter(({ refund_id }) => refund_id === id)
  return own.reduce((sum, { amount_micros }) => sum + amount_micros, 0n)
}

function recordPart(
  { refunds }: BatchState,
  { account_id, id: refund_id }: TransactionRow,
  { id: capture_id }: TransactionRow,
  amount_micros: Micros,
): void {
  refunds.new_parts.push({ account_id, refund_id, capture_id, amount_micros })
}

/** Reverses dispute credits that a refund covers too, so nobody is paid twice. */
export function reverseDisputeCredits(
  state: BatchState,
  captures: readonly TransactionRow[],
): void {
  for (const capture of captures) {
    const of_capture = state.refunds.disputes.filter((one) => one.transaction_id === capture.id)
    for (const overlap of findOverlaps(capture, of_capture)) {
      const { dispute, amount_micros } = overlap
      const { account_id, status } = dispute
      reduceCredit(overlap, state.now)
      state.refunds.changed_disputes.add(dispute)
      const evidence = state.refunds.evidence.filter(({ dispute_id }) => dispute_id === dispute.id)
      const overlap_event = overlapEvent(overlap, { status }, evidence)
      for (const event of [
        overlap_event,
        ...reverseCredit(state.posting, dispute, amount_micros),
      ]) {
        state.events.push({ account_id, event })
      }
    }
  }
}
