import { assert } from '#kernel/assert.ts'
import { advise } from './advise.ts'
import { authorize } from './authorize.ts'
import { capture } from './capture.ts'
import { decision, tell } from './record.ts'
import { refund } from './refund.ts'
import type { CardRequest, Decision, RequestKind } from './request.ts'
import { closeTo, reverse } from './reverse.ts'
import type { Work } from './work.ts'

type Decide = (work: Work, request: CardRequest) => Decision

const decisions: Readonly<Record<RequestKind, Decide>> = {
  authorize,
  increment: authorize,
  verify: authorize,
  balance: authorize,
  credit: authorize,
  debit: authorize,
  advise,
  advise_declined: advise,
  capture,
  refund,
  reverse,
  expire,
}

/** Decides one message over what the batch knows, and leaves in the batch what it comes to. */
export function decide(work: Work, request: CardRequest): Decision {
  // It waited for a person, and the network took it back between their decision and this booking.
  const isTakenBack = request.settles !== null && work.early_reversals.has(request.settles)
  if (isTakenBack) return decision('noted')
  return decisions[request.kind](work, request)
}

/** Seven days have passed and nobody has come for it; or the network says so. */
function expire(work: Work, request: CardRequest): Decision {
  const card = work.cards.get(request.pan_hash)
  const head = card === undefined ? null : work.purchases.ofReversal(card, request)
  if (card === undefined || head === null) return decision('original_unknown')
  if (head.open_micros > 0n) {
    assert(head.type === 'authorization', 'only authorizations are open')
    closeTo(work, card, head, { open_micros: 0n, status: 'expired' })
    tell(work, head, 'expired')
  }
  return decision('noted', { network: card.brand, transaction: head })
}
