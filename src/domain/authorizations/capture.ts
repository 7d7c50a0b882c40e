import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { Micros } from '#kernel/money.ts'
import { type BatchState, change } from './batch_state.ts'
import type { CardFacts } from './facts.ts'
import { captureHeld, release, take } from './money.ts'
import { priced, setAside } from './price.ts'
import { decision, emitTransactionEvent, record } from './record.ts'
import type { CardRequest, Decision } from './request.ts'
import { countSpending, giveBackSpending } from './spending.ts'

/**
 * The merchant has settled. What the purchase still holds pays first; the rest is taken from the
 * card, and what the card has not got is owed. Without an authorization all of it is. Never
 * refused: the network has paid the merchant already.
 */
export function capture(state: BatchState, request: CardRequest): Decision {
  const card = state.cards.get(request.pan_hash)
  if (card === undefined) return decision('noted')
  const found = state.purchases.ofClearing(card, request)
  const authorization = found?.type === 'authorization' ? found : null
  const known = priced(request, authorization)
  if (known === null) return setAside(state, card, request)
  const amount = known.charge.micros ?? 0n
  const row = record(
    state,
    { card, request: known },
    {
      type: 'capture',
      status: 'settled',
      authorization_id: authorization?.id ?? null,
      authorization_code: authorization?.authorization_code ?? request.reference.authorization_code,
      captured_micros: amount,
      is_forced: authorization === null,
      settled_at: state.now,
    },
  )
  if (authorization === null) post(state, card, row, amount)
  else captureOf(state, card, { authorization, row, is_final: request.is_final })
  emitTransactionEvent(state, row, 'captured')
  return decision('noted', { network: card.brand, transaction: row })
}

/** What no hold covers is taken now and counts as spent now. */
function post(state: BatchState, card: CardFacts, row: TransactionRow, amount: Micros): void {
  countSpending(state, card, amount)
  take(state, card, row, amount)
}

const least = (a: Micros, b: Micros): Micros => (a < b ? a : b)

function captureOf(
  state: BatchState,
  card: CardFacts,
  {
    authorization,
    row,
    is_final,
  }: { authorization: TransactionRow; row: TransactionRow; is_final: boolean },
): void {
  const amount = row.amount_micros
  const from_hold = least(amount, authorization.held_micros)
  const from_open = least(amount, authorization.open_micros)
  captureHeld(state, card, row, from_hold)
  countSpending(state, card, amount - from_open)
  if (amount > from_hold) take(state, card, row, amount - from_hold)
  const captured_micros = authorization.captured_micros + amount
  const open_micros = is_final ? 0n : authorization.open_micros - from_open
  const held_micros = least(authorization.held_micros - from_hold, open_micros)
  giveUp(state, card, authorization, {
    held: authorization.held_micros - from_hold - held_micros,
    open: authorization.open_micros - from_open - open_micros,
  })
  change(state, authorization, {
    captured_micros,
    open_micros,
    held_micros,
    status: open_micros > 0n ? 'partially_captured' : 'captured',
    settled_at: state.now,
  })
}

/** Part of a hold that will not be captured: the money goes back, and so does what it counted. */
export function giveUp(
  state: BatchState,
  card: CardFacts,
  authorization: TransactionRow,
  { held, open }: { held: Micros; open: Micros },
): void {
  giveBackSpending(state, card, { authorization, micros: open })
  if (held > 0n) release(state, card, authorization, held)
}
