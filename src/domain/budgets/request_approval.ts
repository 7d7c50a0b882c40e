import { Problem } from '#contract/problem.ts'
import type { Context } from '#domain/context/context.ts'
import { requireLiveGrant } from '#domain/credentials/grant_store.ts'
import {
  type ApprovalRequest,
  type ApprovalRow,
  approvalEvent,
  approvalResource,
  DECIDE_MS,
} from './approval.ts'
import { countRequests, findOpenApproval, insertApproval } from './approval_store.ts'

/** Each one is an email to the owner, so an app in a loop must not send thousands. */
const REQUESTS_MAX = 100

type RequestContext = Pick<Context, 'tx' | 'now' | 'newId' | 'emit' | 'audit'>

/** Asks the owner about a refused call. The same call gets the same approval while it is open. */
export async function requestApproval(
  context: RequestContext,
  request: ApprovalRequest,
): Promise<ApprovalRow> {
  const { tx, now, newId } = context
  await requireLiveGrant(tx, request.grant_id, now)
  const open = await findOpenApproval(tx, request, now)
  if (open !== undefined) return open
  if ((await countRequests(tx, request, now)) >= REQUESTS_MAX) throw tooManyRequests()

  const approval = await insertApproval(tx, request, { id: newId('apr'), now })
  const event = { type: 'approval.requested', message: request.summary } as const
  context.emit(approval.account_id, approvalEvent(approval, now, event))
  context.audit(approval.account_id, {
    action: 'approval.requested',
    resource: approvalResource(approval),
  })
  return approval
}

function tooManyRequests(): Problem {
  return new Problem(
    'rate_limited',
    `An app can ask for approval ${REQUESTS_MAX} times in 24 hours. Stay within its budget.`,
    { retry_after_s: DECIDE_MS / REQUESTS_MAX / 1_000 },
  )
}
