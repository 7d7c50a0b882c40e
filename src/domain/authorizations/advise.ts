import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { recordAuthorization, recordDecline } from './authorize.ts'
import { type BatchState, change } from './batch_state.ts'
import { giveUp } from './capture.ts'
import type { CardFacts } from './facts.ts'
import { hold } from './money.ts'
import { priced, setAside } from './price.ts'
import { decision, emitTransactionEvent } from './record.ts'
import type { CardRequest, Decision } from './request.ts'
import { countFor } from './spending.ts'

type Asked = { card: CardFacts; request: CardRequest }

/**
 * The network has decided in our place, or says what a purchase really came to. It is held even
 * where the rules say no; what the card has not got is missing only when it is captured.
 */
export function advise(state: BatchState, request: CardRequest): Decision {
  const card = state.cards.get(request.pan_hash)
  if (card === undefined) return decision('noted')
  const asked = { card, request }
  const said = { network: card.brand }
  if (request.kind === 'advise_declined') {
    return decision('noted', { ...said, transaction: recordDecline(state, asked, []) })
  }
  const found = state.purchases.ofClearing(card, request)
  const authorization = found?.type === 'authorization' ? found : null
  const known = priced(request, authorization)
  if (known === null) return setAside(state, card, request)
  if (authorization !== null) {
    // What one message has taken is settled: only its reversal or a refund changes it.
    if (!authorization.is_single_message) complete(state, { card, request: known }, authorization)
    return decision('noted', { ...said, transaction: authorization })
  }
  return decision('noted', { ...said, transaction: standIn(state, { card, request: known }) })
}

function standIn(state: BatchState, asked: Asked): TransactionRow {
  const { card, request } = asked
  const row = recordAuthorization(state, asked, {
    authorization_code: request.reference.authorization_code,
    open_micros: request.charge.micros ?? 0n,
    expires_at: state.expires_at,
    is_stand_in: true,
  })
  row.held_micros = hold(state, card, row, row.open_micros)
  emitTransactionEvent(state, row, 'authorized')
  return row
}

/** The hold becomes the real amount, as at a fuel pump: less is given back, more is taken. */
function complete(
  state: BatchState,
  { card, request }: Asked,
  authorization: TransactionRow,
): void {
  const total = request.charge.micros ?? 0n
  const rest = total - authorization.captured_micros
  const open_micros = rest < 0n ? 0n : rest
  const more = open_micros - authorization.open_micros
  let { held_micros } = authorization
  if (more > 0n) {
    held_micros += hold(state, card, authorization, more)
    countFor(state, card, { authorization, micros: more, already: authorization.open_micros })
  } else {
    const kept = held_micros < open_micros ? held_micros : open_micros
    giveUp(state, card, authorization, { held: held_micros - kept, open: -more })
    held_micros = kept
  }
  change(state, authorization, {
    amount_micros: total,
    amount_minor: request.charge.minor,
    open_micros,
    held_micros,
    status: completedStatus(authorization, open_micros),
    expires_at: state.expires_at,
  })
}

function completedStatus(
  authorization: TransactionRow,
  open_micros: bigint,
): TransactionRow['status'] {
  if (open_micros === 0n) return authorization.captured_micros > 0n ? 'captured' : 'reversed'
  return authorization.captured_micros > 0n ? 'partially_captured' : 'pending'
}
