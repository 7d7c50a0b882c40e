import type { NewEvent } from '#domain/context/context.ts'
import { formatUsd, type Micros } from '#kernel/money.ts'
import { creditOf, type DisputeRow, disputeEvent, disputeView } from './dispute.ts'
import type { EvidenceRow } from './evidence.ts'

/** Refunds and dispute credits of a capture together never exceed the captured amount. */
type Capture = { captured_micros: Micros; refunded_micros: Micros }

type Overlap = { dispute: DisputeRow; amount_micros: Micros }

/** The parts of credits that refunds have paid as well, from the newest dispute to the oldest. */
export function findOverlaps(capture: Capture, disputes: readonly DisputeRow[]): Overlap[] {
  const newest_first = disputes.toSorted((a, b) => (a.id < b.id ? 1 : -1))
  const credits = newest_first.reduce((sum, dispute) => sum + creditOf(dispute), 0n)
  let excess = capture.refunded_micros + credits - capture.captured_micros
  const overlaps: Overlap[] = []
  for (const dispute of newest_first) {
    const credit = creditOf(dispute)
    const amount_micros = excess < credit ? excess : credit
    if (amount_micros <= 0n) continue
    overlaps.push({ dispute, amount_micros })
    excess -= amount_micros
  }
  return overlaps
}

/** Reduces the credit. An open dispute without a credit is closed as won: the refund paid it. */
export function reduceCredit({ dispute, amount_micros }: Overlap, now: Date): void {
  dispute.taken_back_micros += amount_micros
  dispute.version += 1n
  dispute.updated_at = now
  if (dispute.status === 'closed' || creditOf(dispute) > 0n) return
  dispute.status = 'closed'
  dispute.outcome = 'won'
  dispute.closed_by = 'refund'
  dispute.resolved_at = now
}

/** The event for the account: the dispute was resolved, or its credit was reduced. */
export function overlapEvent(
  { dispute, amount_micros }: Overlap,
  before: Pick<DisputeRow, 'status'>,
  evidence: readonly EvidenceRow[],
): NewEvent {
  const reduction = formatUsd(amount_micros)
  if (before.status === dispute.status) {
    const message = `Dispute credit reduced by ${reduction}, which the merchant has refunded.`
    const event = disputeEvent(dispute, null, { type: 'dispute.credit_reduced', message })
    return { ...event, amount_micros }
  }
  const disputed = formatUsd(dispute.amount_micros)
  return disputeEvent(dispute, disputeView(dispute, evidence), {
    type: 'dispute.resolved',
    message: `You won your dispute (${disputed}): the merchant refunded the purchase.`,
    previous_attributes: { status: before.status, outcome: null },
  })
}
