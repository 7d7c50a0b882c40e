import { fieldProblem } from '#contract/common_problems.ts'
import type { Dispute } from '#contract/disputes.ts'
import { Problem } from '#contract/problem.ts'
import type { NewEvent } from '#domain/context/context.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { formatUsd, type Micros, microsFromUsd, usdFromMicros } from '#kernel/money.ts'
import { type EvidenceRow, evidenceView } from './evidence.ts'

/**
 * A dispute contests a capture. Its amount is credited provisionally when the dispute is filed. The
 * holder keeps the credit if the dispute is won; it is reversed if the dispute is lost.
 */
export type DisputeRow = {
  account_id: string
  id: string
  transaction_id: string
  card_id: string
  amount_micros: Micros
  /** The part of the credit that refunds of the same capture have replaced. */
  taken_back_micros: Micros
  reason: Dispute['reason']
  explanation: string
  status: Dispute['status']
  outcome: Dispute['outcome']
  closed_by: Dispute['closed_by']
  response_text: string | null
  response_at: Date | null
  evidence_due_at: Date
  metadata: Record<string, string>
  version: bigint
  created_at: Date
  updated_at: Date
  resolved_at: Date | null
}

const DAY_MS = 24 * 3_600_000
const DISPUTABLE_DAYS = 120
const EVIDENCE_DAYS = 30
const EVIDENCE_MAX = 20

export function disputeView(dispute: DisputeRow, evidence: readonly EvidenceRow[]): Dispute {
  return {
    id: dispute.id,
    transaction_id: dispute.transaction_id,
    card_id: dispute.card_id,
    amount_usd: usdFromMicros(dispute.amount_micros),
    reason: dispute.reason,
    explanation: dispute.explanation,
    status: dispute.status,
    outcome: dispute.outcome,
    closed_by: dispute.status === 'closed' ? (dispute.closed_by ?? 'operator') : null,
    response: responseOf(dispute),
    evidence: evidence.map(evidenceView),
    evidence_due_at: dispute.evidence_due_at.toISOString(),
    provisional_credit_usd: usdFromMicros(creditOf(dispute)),
    metadata: dispute.metadata,
    version: Number(dispute.version),
    created_at: dispute.created_at.toISOString(),
    updated_at: dispute.updated_at.toISOString(),
    resolved_at: dispute.resolved_at?.toISOString() ?? null,
  }
}

/** The provisional credit that is left after refunds. */
export function creditOf({
  amount_micros,
  taken_back_micros,
}: Pick<DisputeRow, 'amount_micros' | 'taken_back_micros'>): Micros {
  return amount_micros - taken_back_micros
}

function responseOf({ response_text, response_at }: DisputeRow): Dispute['response'] {
  if (response_text === null || response_at === null) return null
  return { text: response_text, received_at: response_at.toISOString() }
}

export const evidenceDueAt = (filed_at: Date): Date =>
  new Date(filed_at.getTime() + EVIDENCE_DAYS * DAY_MS)

/** Only a capture can be disputed, and only for 120 days. */
export function requireDisputable(capture: TransactionRow, now: Date): void {
  if (capture.type !== 'capture') {
    throw notDisputable(`Only a capture can be disputed. This is ${nounOf(capture)}.`)
  }
  const taken_at = capture.settled_at ?? capture.created_at
  if (now.getTime() - taken_at.getTime() > DISPUTABLE_DAYS * DAY_MS) {
    throw notDisputable(`A purchase can only be disputed within ${DISPUTABLE_DAYS} days.`)
  }
}

const nounOf = ({ type }: TransactionRow) =>
  type === 'authorization' ? 'an authorization' : `a ${type}`

type DisputableAmount = {
  capture: TransactionRow
  /** Null for a capture without an authorization. */
  authorization: TransactionRow | null
  /** Won in earlier disputes of the capture, and credited by all of its purchase. */
  won_micros: Micros
  credited_micros: Micros
}

const keptOf = ({ captured_micros, refunded_micros }: TransactionRow): Micros =>
  captured_micros - refunded_micros

/**
 * Amounts that were refunded, or won in an earlier dispute, cannot be disputed again. A refund
 * above a capture counts on no capture, but on the purchase.
 */
export function requireAmount(
  amount_usd: number | undefined,
  { capture, authorization, won_micros, credited_micros }: DisputableAmount,
): Micros {
  const kept_of_capture = keptOf(capture) - won_micros
  const kept_of_purchase =
    authorization === null ? kept_of_capture : keptOf(authorization) - credited_micros
  const kept_micros = kept_of_purchase < kept_of_capture ? kept_of_purchase : kept_of_capture
  if (kept_micros <= 0n) throw notDisputable('This purchase was already refunded in full.')
  if (amount_usd === undefined) return kept_micros
  const amount_micros = microsFromUsd(amount_usd)
  if (amount_micros > 0n && amount_micros <= kept_micros) return amount_micros
  const message = `must be more than 0 and at most ${formatUsd(kept_micros)}`
  throw fieldProblem('amount_out_of_range', 'amount_usd', message)
}

export function disputeExists(): Problem {
  return new Problem('dispute_exists', 'This purchase already has an open dispute.')
}

export function requireOpen({ status }: Pick<DisputeRow, 'status'>): void {
  if (status !== 'closed') return
  throw new Problem('dispute_closed', 'This dispute is closed. Its outcome is final.')
}

export function requireAcceptsEvidence(dispute: DisputeRow, evidence_count: number): void {
  requireOpen(dispute)
  if (evidence_count < EVIDENCE_MAX) return
  throw new Problem(
    'evidence_limit_reached',
    `This dispute already has ${EVIDENCE_MAX} pieces of evidence, the maximum.`,
  )
}

function notDisputable(sentence: string): Problem {
  return new Problem('transaction_not_disputable', sentence)
}

export const disputeReference = (id: string) => ({ type: 'dispute', id })

type DisputeEventInput = Pick<NewEvent, 'type' | 'message' | 'severity' | 'previous_attributes'>

export function disputeEvent(
  dispute: DisputeRow,
  object: Dispute | null,
  input: DisputeEventInput,
): NewEvent {
  return {
    ...input,
    resource: disputeReference(dispute.id),
    object,
    card_id: dispute.card_id,
    amount_micros: dispute.amount_micros,
  }
}
