import type { Approval } from '#contract/approvals.ts'
import { Problem } from '#contract/problem.ts'
import type { NewEvent } from '#domain/context/context.ts'
import { type Micros, usdFromMicros } from '#kernel/money.ts'
import { nameInSentence } from '#kernel/name_in_sentence.ts'

const HOUR_MS = 3_600_000
/** The owner can decide for this long. */
export const DECIDE_MS = 24 * HOUR_MS
/** An approved call can be made for this long after the decision. */
export const USE_MS = HOUR_MS

/** A refused call, as the owner will be asked about it. */
export type ApprovalRequest = {
  account_id: string
  grant_id: string
  client_id: string
  client_name: string | null
  operation: Approval['operation']
  fingerprint: string
  summary: string
  /** The rule that the call breaks, for the error message. */
  reason: string
  amount_micros: Micros
  card_id: string | null
}

export type ApprovalRow = Omit<ApprovalRequest, 'reason' | 'fingerprint'> & {
  id: string
  status: Approval['status']
  created_at: Date
  expires_at: Date
  decided_at: Date | null
}

/**
 * Refuses a call. Its transaction is rolled back, so the pipeline stores the request in one of its
 * own and adds the link to the response.
 */
export class ApprovalRequired extends Problem {
  readonly request: ApprovalRequest

  constructor(request: ApprovalRequest) {
    super('approval_required', approvalSentence(request))
    this.request = request
  }
}

function approvalSentence({ reason }: Pick<ApprovalRequest, 'reason'>): string {
  return `The account owner must approve this call (${reason}). Then repeat it.`
}

/** Time alone ends an approval; nothing is written when it does. */
export function statusAt({ status, expires_at, decided_at }: ApprovalRow, now: Date) {
  if (status === 'pending' && expires_at <= now) return 'expired'
  const use_by_ms = (decided_at?.getTime() ?? 0) + USE_MS
  if (status === 'approved' && use_by_ms <= now.getTime()) return 'expired'
  return status
}

export function approvalView(approval: ApprovalRow, now: Date): Approval {
  return {
    id: approval.id,
    status: statusAt(approval, now),
    operation: approval.operation,
    summary: approval.summary,
    amount_usd: usdFromMicros(approval.amount_micros),
    agent: { client_id: approval.client_id, name: approval.client_name },
    card_id: approval.card_id,
    created_at: approval.created_at.toISOString(),
    expires_at: approval.expires_at.toISOString(),
    decided_at: approval.decided_at?.toISOString() ?? null,
  }
}

export const approvalResource = ({ id }: Pick<ApprovalRow, 'id'>) => ({ type: 'approval', id })

type ApprovalEventInput = Pick<NewEvent, 'type' | 'message' | 'previous_attributes'>

export function approvalEvent(
  approval: ApprovalRow,
  now: Date,
  input: ApprovalEventInput,
): NewEvent {
  return {
    ...input,
    object: approvalView(approval, now),
    resource: approvalResource(approval),
    card_id: approval.card_id,
    amount_micros: approval.amount_micros,
  }
}

export const nameOfAgent = (name: string | null): string =>
  nameInSentence(name) ?? 'An app without a name'
