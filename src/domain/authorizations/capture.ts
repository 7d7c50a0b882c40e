import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { least, type Micros } from '#kernel/money.ts'
import { type BatchState, change } from './batch_state.ts'
import type { CardState } from './card_state.ts'
import { captureHeld, debitCard, release } from './money.ts'
import { holdForOperator, withUsdAmount } from './price.ts'
import { decision, emitTransactionEvent, record, withMerchantOf } from './record.ts'
import { countEarlierRefunds } from './refund.ts'
import type { CardRequest, Decision } from './request.ts'
import { countUsage, reverseUsage } from './spending.ts'

/**
 * Captures debit the hold first, then the card balance; the rest becomes a debt. A capture without
 * an authorization debits the card. Captures are never refused, because the network has already
 * paid the merchant.
 */
export function capture(state: BatchState, request: CardRequest): Decision {
  const card = state.cards.get(request.pan_hash)
  if (card === undefined) return decision('noted')
  const found = state.purchases.ofClearing(card, request)
  const authorization = found?.type === 'authorization' ? found : null
  const known = withUsdAmount(request, authorization)
  if (known === null) {
    return holdForOperator(state, card, withMerchantOf(authorization, request))
  }
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
    authorization,
  )
  if (authorization === null) captureWithoutHold(state, card, row, amount)
  else captureAuthorization(state, card, { authorization, row, is_final: request.is_final })
  emitTransactionEvent(state, row, 'captured')
  return decision('noted', { network: card.brand, transaction: row })
}

/** Captures above the hold debit the card balance and count as spent now. */
function captureWithoutHold(
  state: BatchState,
  card: CardState,
  row: TransactionRow,
  amount: Micros,
): void {
  countUsage(state, card, amount)
  debitCard(state, card, row, amount)
}

function captureAuthorization(
  state: BatchState,
  card: CardState,
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
  countUsage(state, card, amount - from_open)
  if (amount > from_hold) debitCard(state, card, row, amount - from_hold)
  const captured_micros = authorization.captured_micros + amount
  const open_micros = is_final ? 0n : authorization.open_micros - from_open
  const held_micros = least(authorization.held_micros - from_hold, open_micros)
  releaseRemainder(state, card, authorization, {
    held: authorization.held_micros - from_hold - held_micros,
    open: authorization.open_micros - from_open - open_micros,
  })
  const after = { captured_micros, open_micros }
  const status = statusAfter(authorization, after)
  const settled_at = amount > 0n ? state.now : authorization.settled_at
  change(state, authorization, { ...after, held_micros, status, settled_at })
  countEarlierRefunds(state, card, { authorization, capture: row })
}

/** A capture of zero settles nothing, but a final one gives the hold back, like a reversal. */
function statusAfter(
  authorization: TransactionRow,
  { captured_micros, open_micros }: Pick<TransactionRow, 'captured_micros' | 'open_micros'>,
): TransactionRow['status'] {
  const isChanged =
    captured_micros > authorization.captured_micros || open_micros < authorization.open_micros
  if (!isChanged) return authorization.status
  if (open_micros > 0n) return 'partially_captured'
  return captured_micros > 0n ? 'captured' : 'reversed'
}

/** Releases the part of a hold that will not be captured, and its usage. */
export function releaseRemainder(
  state: BatchState,
  card: CardState,
  authorization: TransactionRow,
  { held, open }: { held: Micros; open: Micros },
): void {
  reverseUsage(state, card, { authorization, micros: open })
  if (held > 0n) release(state, card, authorization, held)
}
