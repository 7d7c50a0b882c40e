import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { Micros } from '#kernel/money.ts'
import { type BatchState, change } from './batch_state.ts'
import { giveUp } from './capture.ts'
import type { CardFacts } from './facts.ts'
import { giveBack, take } from './money.ts'
import { shareOf } from './price.ts'
import { decision, emitTransactionEvent } from './record.ts'
import { recordRefund, spread, takeBackCredits } from './refund.ts'
import type { CardRequest, Decision } from './request.ts'
import { giveBackSpending } from './spending.ts'

/**
 * The merchant takes back what it asked for, all or part of it. It may come twice, late, or before
 * the message that it reverses: then that one is declined when it comes.
 */
export function reverse(state: BatchState, request: CardRequest): Decision {
  const card = state.cards.get(request.pan_hash)
  const found = card === undefined ? null : state.purchases.ofReversal(card, request)
  if (card === undefined || found === null) return remember(state, request)
  const transaction = found
  const done = decision('noted', { network: card.brand, transaction })
  if (found.type === 'refund') {
    takeBackRefund(state, card, found)
    return done
  }
  if (found.type !== 'authorization') return done
  if (found.is_single_message) {
    giveBackDebit(state, { card, request }, found)
    return done
  }
  if (found.open_micros > 0n) {
    reverseOpen(state, { card, request }, found)
    return done
  }
  return found.captured_micros > 0n ? { ...done, verdict: 'no_action' } : done
}

function remember(state: BatchState, { reference }: CardRequest): Decision {
  if (reference.original_identity !== null) {
    state.new_early_reversals.add(reference.original_identity)
    state.early_reversals.add(reference.original_identity)
  }
  return decision('original_unknown')
}

type Asked = { card: CardFacts; request: CardRequest }

/** What the purchase comes to now, in dollars; a part in the merchant's currency is scaled. */
function replacementOf(authorization: TransactionRow, minor: bigint | null): Micros {
  return minor === null ? 0n : shareOf(authorization, minor)
}

/** Never more is held than before, and what was captured of the purchase counts against it. */
function reverseOpen(
  state: BatchState,
  { card, request }: Asked,
  authorization: TransactionRow,
): void {
  const wanted =
    replacementOf(authorization, request.replacement_minor) - authorization.captured_micros
  const open_micros = clamped(wanted, authorization.open_micros)
  if (open_micros === authorization.open_micros) return
  closeTo(state, card, authorization, { open_micros, status: 'reversed' })
  emitTransactionEvent(state, authorization, 'reversed')
}

function clamped(wanted: Micros, most: Micros): Micros {
  if (wanted < 0n) return 0n
  return wanted < most ? wanted : most
}

export function closeTo(
  state: BatchState,
  card: CardFacts,
  authorization: TransactionRow,
  { open_micros, status }: { open_micros: Micros; status: 'reversed' | 'expired' },
): void {
  const held_micros = clamped(open_micros, authorization.held_micros)
  giveUp(state, card, authorization, {
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

/** A single message took the money itself, so its reversal brings it back. */
function giveBackDebit(
  state: BatchState,
  { card, request }: Asked,
  authorization: TransactionRow,
): void {
  const kept = replacementOf(authorization, request.replacement_minor)
  const amount = authorization.captured_micros - authorization.refunded_micros - kept
  if (amount <= 0n) return
  const amount_minor =
    authorization.amount_micros === 0n
      ? 0n
      : (authorization.amount_minor * amount) / authorization.amount_micros
  const row = recordRefund(state, { card, request }, authorization, {
    amount_micros: amount,
    amount_minor,
    currency: authorization.currency,
    fx_rate: authorization.fx_rate,
  })
  giveBack(state, card, row, amount)
  giveBackSpending(state, card, { authorization, micros: amount })
  const captures = spread(state, card, { row, authorization, first: null })
  if (kept === 0n) change(state, authorization, { status: 'reversed' })
  emitTransactionEvent(state, row, 'refunded')
  takeBackCredits(state, captures)
}

/** The merchant had sent the refund by mistake: nothing of it counts any more. */
function takeBackRefund(state: BatchState, card: CardFacts, refund: TransactionRow): void {
  if (refund.status === 'reversed') return
  take(state, card, refund, refund.amount_micros)
  change(state, refund, { status: 'reversed' })
  const authorization = state.purchases.byId(card, refund.authorization_id)
  if (authorization !== null) uncount(state, authorization, refund.amount_micros)
  const { parts, new_parts } = state.refunds
  for (const { refund_id, capture_id, amount_micros } of [...parts, ...new_parts]) {
    const capture = refund_id === refund.id ? state.purchases.byId(card, capture_id) : null
    if (capture !== null) uncount(state, capture, amount_micros)
  }
  emitTransactionEvent(state, refund, 'refund_reversed')
}

function uncount(state: BatchState, row: TransactionRow, amount: Micros): void {
  const left = row.refunded_micros - amount
  change(state, row, { refunded_micros: left < 0n ? 0n : left })
}
