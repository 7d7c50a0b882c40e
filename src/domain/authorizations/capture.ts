import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { Micros } from '#kernel/money.ts'
import type { CardFacts } from './facts.ts'
import { captureHeld, release, take } from './money.ts'
import { priced, setAside } from './price.ts'
import { decision, record, tell } from './record.ts'
import type { CardRequest, Decision } from './request.ts'
import { countSpending, giveBackSpending } from './spending.ts'
import { change, type Work } from './work.ts'

/**
 * The merchant has settled. What the purchase still holds pays first; the rest is taken from the
 * card, and what the card has not got is owed. Without an authorization all of it is. Never
 * refused: the network has paid the merchant already.
 */
export function capture(work: Work, request: CardRequest): Decision {
  const card = work.cards.get(request.pan_hash)
  if (card === undefined) return decision('noted')
  const found = work.purchases.ofClearing(card, request)
  const head = found?.type === 'authorization' ? found : null
  const known = priced(request, head)
  if (known === null) return setAside(work, card, request)
  const amount = known.charge.micros ?? 0n
  const row = record(
    work,
    { card, request: known },
    {
      type: 'capture',
      status: 'settled',
      authorization_id: head?.id ?? null,
      authorization_code: head?.authorization_code ?? request.reference.authorization_code,
      captured_micros: amount,
      is_forced: head === null,
      settled_at: work.now,
    },
  )
  if (head === null) post(work, card, row, amount)
  else captureOf(work, card, { head, row, is_final: request.is_final })
  tell(work, row, 'captured')
  return decision('noted', { network: card.brand, transaction: row })
}

/** What no hold covers is taken now and counts as spent now. */
function post(work: Work, card: CardFacts, row: TransactionRow, amount: Micros): void {
  countSpending(work, card, amount)
  take(work, card, row, amount)
}

const least = (a: Micros, b: Micros): Micros => (a < b ? a : b)

function captureOf(
  work: Work,
  card: CardFacts,
  { head, row, is_final }: { head: TransactionRow; row: TransactionRow; is_final: boolean },
): void {
  const amount = row.amount_micros
  const from_hold = least(amount, head.held_micros)
  const from_open = least(amount, head.open_micros)
  captureHeld(work, card, row, from_hold)
  countSpending(work, card, amount - from_open)
  if (amount > from_hold) take(work, card, row, amount - from_hold)
  const captured_micros = head.captured_micros + amount
  const open_micros = is_final ? 0n : head.open_micros - from_open
  const held_micros = least(head.held_micros - from_hold, open_micros)
  giveUp(work, card, head, {
    held: head.held_micros - from_hold - held_micros,
    open: head.open_micros - from_open - open_micros,
  })
  change(work, head, {
    captured_micros,
    open_micros,
    held_micros,
    status: open_micros > 0n ? 'partially_captured' : 'captured',
    settled_at: work.now,
  })
}

/** Part of a hold that will not be captured: the money goes back, and so does what it counted. */
export function giveUp(
  work: Work,
  card: CardFacts,
  head: TransactionRow,
  { held, open }: { held: Micros; open: Micros },
): void {
  giveBackSpending(work, card, { head, micros: open })
  if (held > 0n) release(work, card, head, held)
}
