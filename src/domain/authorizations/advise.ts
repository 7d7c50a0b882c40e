import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { recordAuthorization, recordDecline } from './authorize.ts'
import { giveUp } from './capture.ts'
import type { CardFacts } from './facts.ts'
import { hold } from './money.ts'
import { priced, setAside } from './price.ts'
import { decision, tell } from './record.ts'
import type { CardRequest, Decision } from './request.ts'
import { countFor } from './spending.ts'
import { change, type Work } from './work.ts'

type Asked = { card: CardFacts; request: CardRequest }

/**
 * The network has decided in our place, or says what a purchase really came to. It is held even
 * where the rules say no; what the card has not got is missing only when it is captured.
 */
export function advise(work: Work, request: CardRequest): Decision {
  const card = work.cards.get(request.pan_hash)
  if (card === undefined) return decision('noted')
  const asked = { card, request }
  const said = { network: card.brand }
  if (request.kind === 'advise_declined') {
    return decision('noted', { ...said, transaction: recordDecline(work, asked, []) })
  }
  const found = work.purchases.ofClearing(card, request)
  const head = found?.type === 'authorization' ? found : null
  const known = priced(request, head)
  if (known === null) return setAside(work, card, request)
  if (head !== null) {
    // What one message has taken is settled: only its reversal or a refund changes it.
    if (!head.is_single_message) complete(work, { card, request: known }, head)
    return decision('noted', { ...said, transaction: head })
  }
  return decision('noted', { ...said, transaction: standIn(work, { card, request: known }) })
}

function standIn(work: Work, asked: Asked): TransactionRow {
  const { card, request } = asked
  const row = recordAuthorization(work, asked, {
    authorization_code: request.reference.authorization_code,
    open_micros: request.charge.micros ?? 0n,
    expires_at: work.expires_at,
    is_stand_in: true,
  })
  row.held_micros = hold(work, card, row, row.open_micros)
  tell(work, row, 'authorized')
  return row
}

/** The hold becomes the real amount, as at a fuel pump: less is given back, more is taken. */
function complete(work: Work, { card, request }: Asked, head: TransactionRow): void {
  const total = request.charge.micros ?? 0n
  const rest = total - head.captured_micros
  const open_micros = rest < 0n ? 0n : rest
  const more = open_micros - head.open_micros
  let { held_micros } = head
  if (more > 0n) {
    held_micros += hold(work, card, head, more)
    countFor(work, card, { head, micros: more, already: head.open_micros })
  } else {
    const kept = held_micros < open_micros ? held_micros : open_micros
    giveUp(work, card, head, { held: held_micros - kept, open: -more })
    held_micros = kept
  }
  change(work, head, {
    amount_micros: total,
    amount_minor: request.charge.minor,
    open_micros,
    held_micros,
    status: completedStatus(head, open_micros),
    expires_at: work.expires_at,
  })
}

function completedStatus(head: TransactionRow, open_micros: bigint): TransactionRow['status'] {
  if (open_micros === 0n) return head.captured_micros > 0n ? 'captured' : 'reversed'
  return head.captured_micros > 0n ? 'partially_captured' : 'pending'
}
