import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { Micros } from '#kernel/money.ts'
import { giveUp } from './capture.ts'
import type { CardFacts } from './facts.ts'
import { giveBack, take } from './money.ts'
import { shareOf } from './price.ts'
import { decision, tell } from './record.ts'
import { recordRefund, spread, takeBackCredits } from './refund.ts'
import type { CardRequest, Decision } from './request.ts'
import { giveBackSpending } from './spending.ts'
import { change, type Work } from './work.ts'

/**
 * The merchant takes back what it asked for, all or part of it. It may come twice, late, or before
 * the message that it reverses: then that one is declined when it comes.
 */
export function reverse(work: Work, request: CardRequest): Decision {
  const card = work.cards.get(request.pan_hash)
  const found = card === undefined ? null : work.purchases.ofReversal(card, request)
  if (card === undefined || found === null) return remember(work, request)
  const transaction = found
  const done = decision('noted', { network: card.brand, transaction })
  if (found.type === 'refund') {
    takeBackRefund(work, card, found)
    return done
  }
  if (found.type !== 'authorization') return done
  if (found.is_single_message) {
    giveBackDebit(work, { card, request }, found)
    return done
  }
  if (found.open_micros > 0n) {
    reverseOpen(work, { card, request }, found)
    return done
  }
  return found.captured_micros > 0n ? { ...done, verdict: 'no_action' } : done
}

function remember(work: Work, { reference }: CardRequest): Decision {
  if (reference.original_identity !== null) {
    work.new_early_reversals.add(reference.original_identity)
    work.early_reversals.add(reference.original_identity)
  }
  return decision('original_unknown')
}

type Asked = { card: CardFacts; request: CardRequest }

/** What the purchase comes to now, in dollars; a part in the merchant's currency is scaled. */
function replacementOf(head: TransactionRow, minor: bigint | null): Micros {
  return minor === null ? 0n : shareOf(head, minor)
}

/** Never more is held than before, and what was captured of the purchase counts against it. */
function reverseOpen(work: Work, { card, request }: Asked, head: TransactionRow): void {
  const wanted = replacementOf(head, request.replacement_minor) - head.captured_micros
  const open_micros = clamped(wanted, head.open_micros)
  if (open_micros === head.open_micros) return
  closeTo(work, card, head, { open_micros, status: 'reversed' })
  tell(work, head, 'reversed')
}

function clamped(wanted: Micros, most: Micros): Micros {
  if (wanted < 0n) return 0n
  return wanted < most ? wanted : most
}

export function closeTo(
  work: Work,
  card: CardFacts,
  head: TransactionRow,
  { open_micros, status }: { open_micros: Micros; status: 'reversed' | 'expired' },
): void {
  const held_micros = clamped(open_micros, head.held_micros)
  giveUp(work, card, head, {
    held: head.held_micros - held_micros,
    open: head.open_micros - open_micros,
  })
  const isClosed = open_micros === 0n
  const closed_status = head.captured_micros > 0n ? 'partially_captured' : status
  change(work, head, {
    open_micros,
    held_micros,
    status: isClosed ? closed_status : head.status,
  })
}

/** A single message took the money itself, so its reversal brings it back. */
function giveBackDebit(work: Work, { card, request }: Asked, head: TransactionRow): void {
  const kept = replacementOf(head, request.replacement_minor)
  const amount = head.captured_micros - head.refunded_micros - kept
  if (amount <= 0n) return
  const amount_minor =
    head.amount_micros === 0n ? 0n : (head.amount_minor * amount) / head.amount_micros
  const row = recordRefund(work, { card, request }, head, {
    amount_micros: amount,
    amount_minor,
    currency: head.currency,
    fx_rate: head.fx_rate,
  })
  giveBack(work, card, row, amount)
  giveBackSpending(work, card, { head, micros: amount })
  const captures = spread(work, card, { row, head, first: null })
  if (kept === 0n) change(work, head, { status: 'reversed' })
  tell(work, row, 'refunded')
  takeBackCredits(work, captures)
}

/** The merchant had sent the refund by mistake: nothing of it counts any more. */
function takeBackRefund(work: Work, card: CardFacts, refund: TransactionRow): void {
  if (refund.status === 'reversed') return
  take(work, card, refund, refund.amount_micros)
  change(work, refund, { status: 'reversed' })
  const head = work.purchases.byId(card, refund.authorization_id)
  if (head !== null) uncount(work, head, refund.amount_micros)
  const { parts, new_parts } = work.refunds
  for (const { refund_id, capture_id, amount_micros } of [...parts, ...new_parts]) {
    const capture = refund_id === refund.id ? work.purchases.byId(card, capture_id) : null
    if (capture !== null) uncount(work, capture, amount_micros)
  }
  tell(work, refund, 'refund_reversed')
}

function uncount(work: Work, row: TransactionRow, amount: Micros): void {
  const left = row.refunded_micros - amount
  change(work, row, { refunded_micros: left < 0n ? 0n : left })
}
