import { takeCredit } from '#domain/disputes/dispute_money.ts'
import { lowerCredit, overlapEvent, overlapsOf } from '#domain/disputes/refund_overlap.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { CardFacts } from './facts.ts'
import { giveBack } from './money.ts'
import { priced, setAside } from './price.ts'
import { decision, record, tell } from './record.ts'
import type { CardRequest, Decision } from './request.ts'
import { change, type Work } from './work.ts'

/** Money back, with or without a purchase that we know of. It gives nothing back to the limits. */
export function refund(work: Work, request: CardRequest): Decision {
  const card = work.cards.get(request.pan_hash)
  if (card === undefined) return decision('noted')
  const found = work.purchases.ofClearing(card, request)
  const head = found?.type === 'authorization' || found?.type === 'capture' ? found : null
  const named = work.purchases.byMessage(card, request.reference.original_identity)
  const known = priced(request, head)
  if (known === null) return setAside(work, card, request)
  if (needsReview(work, known, head)) return setAside(work, card, known, 'review')
  const row = recordRefund(work, { card, request: known }, head)
  giveBack(work, card, row, row.amount_micros)
  const captures = head === null ? [] : spread(work, card, { row, head, first: named })
  tell(work, row, 'refunded')
  takeBackCredits(work, captures)
  return decision('noted', { network: card.brand, transaction: row })
}

/**
 * A refund without a purchase, or the part of it that its purchase never took, is money that only
 * the message vouches for: whoever can send one could credit a card with any amount.
 */
function needsReview(
  { refund_review_micros: most }: Work,
  { charge, settles }: CardRequest,
  head: TransactionRow | null,
): boolean {
  if (most === null || settles !== null) return false
  const left = head === null ? 0n : head.captured_micros - head.refunded_micros
  const unfounded = (charge.micros ?? 0n) - (left > 0n ? left : 0n)
  return unfounded > most
}

export function recordRefund(
  work: Work,
  asked: { card: CardFacts; request: CardRequest },
  head: TransactionRow | null,
  given: Partial<TransactionRow> = {},
): TransactionRow {
  return record(work, asked, {
    type: 'refund',
    status: 'settled',
    authorization_id: head?.authorization_id ?? null,
    authorization_code: head?.authorization_code ?? null,
    settled_at: work.now,
    ...given,
  })
}

type Spreading = { row: TransactionRow; head: TransactionRow; first: TransactionRow | null }

/**
 * A refund is counted on its authorization, and on its captures: on the one that was named, then on
 * the others from the oldest, each up to what it took. Returns the captures it was counted on.
 */
export function spread(
  work: Work,
  card: CardFacts,
  { row, head, first }: Spreading,
): TransactionRow[] {
  const { account_id, id: refund_id, amount_micros } = row
  if (head.type === 'authorization') {
    change(work, head, { refunded_micros: head.refunded_micros + amount_micros })
  }
  const captures = work.purchases.capturesOf(card, head)
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
    change(work, capture, { refunded_micros: capture.refunded_micros + part })
    work.refunds.new_parts.push({
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
export function takeBackCredits(work: Work, captures: readonly TransactionRow[]): void {
  for (const capture of captures) {
    const of_capture = work.refunds.disputes.filter((one) => one.transaction_id === capture.id)
    for (const overlap of overlapsOf(capture, of_capture)) {
      const { dispute, amount_micros } = overlap
      const { account_id, status } = dispute
      lowerCredit(overlap, work.now)
      work.refunds.changed_disputes.add(dispute)
      const evidence = work.refunds.evidence.filter(({ dispute_id }) => dispute_id === dispute.id)
      const told = overlapEvent(overlap, { status }, evidence)
      for (const event of [told, ...takeCredit(work.posting, dispute, amount_micros)]) {
        work.events.push({ account_id, event })
      }
    }
  }
}
