import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { Micros } from '#kernel/money.ts'
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
  const row = recordRefund(work, { card, request: known }, head)
  giveBack(work, card, row, row.amount_micros)
  if (head !== null) spread(work, card, { head, first: named, amount: row.amount_micros })
  tell(work, row, 'refunded')
  return decision('noted', { network: card.brand, transaction: row })
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

/**
 * What was refunded of a purchase is written on its authorization, and on its captures: on the one
 * that was named, then on the others from the oldest, each up to what it took.
 */
export function spread(
  work: Work,
  card: CardFacts,
  { head, first, amount }: { head: TransactionRow; first: TransactionRow | null; amount: Micros },
): void {
  if (head.type === 'authorization') {
    change(work, head, { refunded_micros: head.refunded_micros + amount })
  }
  const captures = work.purchases.capturesOf(card, head)
  const ordered = [
    ...captures.filter((row) => row === first),
    ...captures.filter((row) => row !== first),
  ]
  let left = amount
  for (const row of ordered) {
    const room = row.captured_micros - row.refunded_micros
    const part = left < room ? left : room
    if (part <= 0n) continue
    change(work, row, { refunded_micros: row.refunded_micros + part })
    left -= part
  }
}
