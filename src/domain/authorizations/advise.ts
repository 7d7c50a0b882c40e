import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { recordAuthorization, recordDecline } from './authorize.ts'
import { type BatchState, change, type RequestOnCard } from './batch_state.ts'
import { releaseRemainder } from './capture.ts'
import { hold, keepUntilExpiry } from './money.ts'
import { holdForOperator, minorOfPurchase, withUsdAmount } from './price.ts'
import { decision, emitTransactionEvent, withMerchantOf } from './record.ts'
import type { CardRequest, Decision } from './request.ts'
import { countAuthorization } from './spending.ts'
import { useCard } from './use_card.ts'

/**
 * The network decided in stand-in, or sends the final amount of a purchase. The amount is held even
 * if a rule objects; a shortfall becomes a debt only at the capture.
 */
export function advise(state: BatchState, request: CardRequest): Decision {
  const card = state.cards.get(request.pan_hash)
  if (card === undefined) return decision('noted')
  const request_on_card = { card, request }
  const said = { network: card.brand }
  if (request.kind === 'advise_declined') {
    return decision('noted', { ...said, transaction: recordDecline(state, request_on_card, []) })
  }
  const found = state.purchases.ofClearing(card, request)
  const authorization = found?.type === 'authorization' ? found : null
  const known = withUsdAmount(request, authorization)
  if (known === null) {
    return holdForOperator(state, card, withMerchantOf(authorization, request))
  }
  if (authorization !== null) {
    // Single-message purchases are settled: only a reversal or a refund changes them.
    if (!authorization.is_single_message) complete(state, { card, request: known }, authorization)
    const { id: transaction_id } = authorization
    state.purchases.addChange(request.identity, { transaction_id, is_request: false })
    return decision('noted', { ...said, transaction: authorization })
  }
  // A verification of the card holds nothing, so there is nothing that could be captured or expire.
  if (known.charge.micros === 0n) {
    useCard(state, card, { ...known.merchant, amount_micros: 0n })
    return decision('noted', said)
  }
  return decision('noted', { ...said, transaction: standIn(state, { card, request: known }) })
}

function standIn(state: BatchState, request_on_card: RequestOnCard): TransactionRow {
  const { card, request } = request_on_card
  const row = recordAuthorization(state, request_on_card, {
    authorization_code: request.reference.authorization_code,
    open_micros: request.charge.micros ?? 0n,
    expires_at: state.expires_at,
    is_stand_in: true,
  })
  row.held_micros = hold(state, card, row, row.open_micros)
  emitTransactionEvent(state, row, 'authorized')
  useCard(state, card, row)
  return row
}

/** Adjusts the hold to the final amount, as at a fuel pump. */
function complete(
  state: BatchState,
  { card, request }: RequestOnCard,
  authorization: TransactionRow,
): void {
  const total = request.charge.micros ?? 0n
  const rest = total - authorization.captured_micros
  const open_micros = rest < 0n ? 0n : rest
  const more = open_micros - authorization.open_micros
  let { held_micros } = authorization
  if (more > 0n) {
    held_micros += hold(state, card, authorization, more)
    countAuthorization(state, card, {
      authorization,
      micros: more,
      already: authorization.open_micros,
    })
  } else {
    const kept = held_micros < open_micros ? held_micros : open_micros
    releaseRemainder(state, card, authorization, { held: held_micros - kept, open: -more })
    held_micros = kept
  }
  change(state, authorization, {
    amount_micros: total,
    amount_minor: minorOfPurchase(authorization, request.charge),
    open_micros,
    held_micros,
    status: completedStatus(authorization, open_micros),
    expires_at: state.expires_at,
  })
  if (open_micros > 0n) keepUntilExpiry(state, card)
  emitTransactionEvent(state, authorization, 'adjusted')
  useCard(state, card, authorization)
}

function completedStatus(
  authorization: TransactionRow,
  open_micros: bigint,
): TransactionRow['status'] {
  if (open_micros === 0n) return authorization.captured_micros > 0n ? 'captured' : 'reversed'
  return authorization.captured_micros > 0n ? 'partially_captured' : 'pending'
}
