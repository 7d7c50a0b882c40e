import { takeCredit } from '#domain/disputes/dispute_money.ts'
import { lowerCredit, overlapEvent, overlapsOf } from '#domain/disputes/refund_overlap.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { type BatchState, change } from './batch_state.ts'
import type { CardFacts } from './facts.ts'
import { giveBack } from './money.ts'
import { priced, setAside } from './price.ts'
import { decision, emitTransactionEvent, record } from './record.ts'
import type { CardRequest, Decision } from './request.ts'

/** Money back, with or without a purchase that we know of. It gives nothing back to the limits. */
export function refund(state: BatchState, request: CardRequest): Decision {
  const card = state.cards.get(request.pan_hash)
  if (card === undefined) return decision('noted')
  const found = state.purchases.ofClearing(card, request)
  const authorization = found?.type === 'authorization' || found?.type === 'capture' ? found : null
  const named = state.purchases.byMessage(card, request.reference.original_identity)
  const known = priced(request, authorization)
  if (known === null) return setAside(state, card, request)
  if (needsReview(state, known, authorization)) return setAside(state, card, known, 'review')
  const row = recordRefund(state, { card, request: known }, authorization)
  giveBack(state, card, row, row.amount_micros)
  const captures =
    authorization === null ? [] : spread(state, card, { row, authorization, first: named })
  emitTransactionEvent(state, row, 'refunded')
  takeBackCredits(state, captures)
  return decision('noted', { network: card.brand, transaction: row })
}

/**
 * A refund without a purchase, or the part of it that its purchase never took, is money that only
 * the message vouches for: whoever can send one could credit a card with any amount.
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
  asked: { card: CardFacts; request: CardRequest },
  authorization: TransactionRow | null,
  given: Partial<TransactionRow> = {},
): TransactionRow {
  return record(state, asked, {
    type: 'refund',
    status: 'settled',
    authorization_id: authorization?.authorization_id ?? null,
    authorization_code: authorization?.authorization_code ?? null,
    settled_at: state.now,
    ...given,
  })
}

type Spreading = {
  row: TransactionRow
  authorization: TransactionRow
  first: TransactionRow | null
}

/**
 * A refund is counted on its authorization, and on its captures: on the one that was named, then on
 * the others from the oldest, each up to what it took. Returns the captures it was counted on.
 */
export function spread(
  state: BatchState,
  card: CardFacts,
  { row, authorization, first }: Spreading,
): TransactionRow[] {
  const { account_id, id: refund_id, amount_micros } = row
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
    const room = capture.captured_micros - capture.refunded_micros
    const part = left < room ? left : room
    if (part <= 0n) continue
    change(state, capture, { refunded_micros: capture.refunded_micros + part })
    state.refunds.new_parts.push({
      account_id,
      refund_id,
      capture_id: capture.id,
      amount_micros: part,
    })
    counted.push(capture)
    left -= part
  }
  return counted
}

/** A disputed capture gives back what its refunds have paid too, so that nobody is paid twice. */
export function takeBackCredits(state: BatchState, captures: readonly TransactionRow[]): void {
  for (const capture of captures) {
    const of_capture = state.refunds.disputes.filter((one) => one.transaction_id === capture.id)
    for (const overlap of overlapsOf(capture, of_capture)) {
      const { dispute, amount_micros } = overlap
      const { account_id, status } = dispute
      lowerCredit(overlap, state.now)
      state.refunds.changed_disputes.add(dispute)
      const evidence = state.refunds.evidence.filter(({ dispute_id }) => dispute_id === dispute.id)
      const told = overlapEvent(overlap, { status }, evidence)
      for (const event of [told, ...takeCredit(state.posting, dispute, amount_micros)]) {
        state.events.push({ account_id, event })
      }
    }
  }
}
