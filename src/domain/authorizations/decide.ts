import { assert } from '#kernel/assert.ts'
import { advise } from './advise.ts'
import { authorize } from './authorize.ts'
import type { BatchState } from './batch_state.ts'
import { capture } from './capture.ts'
import { decision, emitTransactionEvent } from './record.ts'
import { refund } from './refund.ts'
import type { CardRequest, Decision, RequestKind } from './request.ts'
import { releaseDownTo, reverse } from './reverse.ts'

type Decide = (state: BatchState, request: CardRequest) => Decision

const decisions: Readonly<Record<RequestKind, Decide>> = {
  authorize,
  increment: authorize,
  verify: authorize,
  balance: authorize,
  credit: authorize,
  debit: authorize,
  advise,
  advise_declined: advise,
  acknowledge,
  capture,
  refund,
  reverse,
  expire,
}

/** Decides one message and adds the result to the batch. */
export function decide(state: BatchState, request: CardRequest): Decision {
  if (isReversedBefore(state, request)) return decision('noted')
  return decisions[request.kind](state, request)
}

/**
 * The reversal of a refund or of a stand-in approval may overtake it; in the right order nothing
 * would be left of them. A clearing that awaited an operator may have been reversed since. A
 * capture is booked: its reversal has no effect in any order.
 */
function isReversedBefore(
  { early_reversals }: BatchState,
  { kind, identity, settles }: CardRequest,
): boolean {
  if (settles !== null) return early_reversals.has(settles)
  return (kind === 'refund' || kind === 'advise') && early_reversals.has(identity)
}

function acknowledge(state: BatchState, { pan_hash }: CardRequest): Decision {
  return decision('noted', { network: state.cards.get(pan_hash)?.brand ?? null })
}

/**
 * Expires a hold that was not captured within seven days. An increment since the expiry was
 * submitted has extended the hold, which then stays.
 */
function expire(state: BatchState, request: CardRequest): Decision {
  const card = state.cards.get(request.pan_hash)
  const authorization = card === undefined ? null : state.purchases.ofReversal(card, request)
  if (card === undefined || authorization === null) return decision('original_unknown')
  const { open_micros, expires_at } = authorization
  const isOver = request.is_early || (expires_at !== null && expires_at <= state.now)
  if (open_micros > 0n && isOver) {
    assert(authorization.type === 'authorization', 'only authorizations are open')
    releaseDownTo(state, card, authorization, { open_micros: 0n, status: 'expired' })
    emitTransactionEvent(state, authorization, 'expired', open_micros)
  }
  return decision('noted', { network: card.brand, transaction: authorization })
}
