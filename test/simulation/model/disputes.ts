import { CENT, DAY_MS, least, type Micros } from './amounts.ts'
import type { Outcome } from './commands.ts'
import { creditTreasury, debitTreasury } from './money.ts'
import { type Account, type Dispute, ok, type Row, refused, type Scope } from './state.ts'

const DISPUTABLE_DAYS = 120

type NewDispute = { dispute: string; capture: string; amount?: Micros }

export function fileDispute({ programme, account }: Scope, command: NewDispute): Outcome {
  const { dispute, amount } = command
  if (amount !== undefined && amount % CENT !== 0n) return refused('invalid_amount')
  const capture = account.rows.findLast(({ message }) => message === command.capture)
  if (capture === undefined) return refused('not_found')
  if (capture.type !== 'capture') return refused('transaction_not_disputable')
  const age = programme.now - capture.created_at
  if (age > DISPUTABLE_DAYS * DAY_MS) return refused('transaction_not_disputable')
  const earlier = disputesOf(account, capture)
  if (earlier.some(({ status }) => status !== 'closed')) return refused('dispute_exists')
  const kept_of_capture = capture.captured - capture.refunded - creditsOf(earlier)
  const kept = least(kept_of_capture, leftOfPurchase(account, capture))
  if (kept <= 0n) return refused('transaction_not_disputable')
  const disputed = amount ?? kept
  if (disputed <= 0n || disputed > kept) return refused('amount_out_of_range')
  const fields = { capture, amount: disputed, credit: disputed }
  account.disputes.set(dispute, { ...fields, status: 'open', outcome: null, closed_by: null })
  creditTreasury(account, disputed)
  return ok(disputed)
}

/** Refunds above the captures of a purchase are no capture's, so they count on all of it. */
function leftOfPurchase({ disputes }: Account, { captured, refunded, authorization }: Row): Micros {
  if (authorization === null) return captured - refunded
  const of_purchase = [...disputes.values()].filter(
    ({ capture }) => capture.authorization === authorization,
  )
  return authorization.captured - authorization.refunded - creditsOf(of_purchase)
}

const disputesOf = ({ disputes }: Account, capture: Row): Dispute[] =>
  [...disputes.values()].filter((dispute) => dispute.capture === capture)

/** The credits that the holder has: those of open and won disputes. */
const creditsOf = (disputes: readonly Dispute[]): Micros =>
  disputes.reduce((sum, { outcome, credit }) => (outcome === 'lost' ? sum : sum + credit), 0n)

export function answerDispute({ account }: Scope, name: string): Outcome {
  const dispute = account.disputes.get(name)
  if (dispute === undefined) return refused('not_found')
  if (dispute.status === 'closed') return refused('dispute_closed')
  dispute.status = 'answered'
  return ok()
}

/** A lost dispute takes back the credit that refunds have not replaced. */
export function closeDispute({ account }: Scope, name: string, outcome: 'won' | 'lost'): Outcome {
  const dispute = account.disputes.get(name)
  if (dispute === undefined) return refused('not_found')
  if (dispute.status === 'closed') return refused('dispute_closed')
  Object.assign(dispute, { status: 'closed', outcome, closed_by: 'operator' })
  if (outcome === 'lost') debitTreasury(account, dispute.credit)
  return ok()
}

/**
 * Money back for a capture never exceeds the capture: the overlap of refunds and dispute credits is
 * taken from the credits, the newest first. An open dispute without a credit is won.
 */
export function reduceCredits(account: Account, capture: Row): void {
  const disputes = disputesOf(account, capture).filter(({ outcome }) => outcome !== 'lost')
  let overlap = capture.refunded + creditsOf(disputes) - capture.captured
  for (const dispute of disputes.toReversed()) {
    const taken = least(overlap, dispute.credit)
    if (taken <= 0n) continue
    overlap -= taken
    dispute.credit -= taken
    debitTreasury(account, taken)
    if (dispute.status === 'closed' || dispute.credit > 0n) continue
    Object.assign(dispute, { status: 'closed', outcome: 'won', closed_by: 'refund' })
  }
}
