import { Problem } from '#contract/problem.ts'
import type { ApprovalRequired, ApprovalRow } from '#domain/budgets/approval.ts'
import { requestApproval } from '#domain/budgets/request_approval.ts'
import type { Invocation } from '#operations/invocation.ts'
import { contextOf } from '#operations/perform/contexts.ts'
import { collectTrail, writeTrail } from '#operations/perform/trail.ts'
import { lockWrites } from '#operations/perform/write.ts'

/**
 * Stores the request of a call that needs approval, after its own transaction was rolled back, and
 * returns the refusal with the link for the owner.
 */
export async function storeApproval(
  invocation: Invocation,
  { request, message }: ApprovalRequired,
): Promise<Problem> {
  const { runtime, caller, operator, operation } = invocation
  const approval = await runtime.databaseOf(caller).transaction(async (tx) => {
    await lockWrites(invocation, tx)
    const trail = collectTrail()
    const { emit, audit } = trail
    const stored = await requestApproval({ ...contextOf(invocation, tx), emit, audit }, request)
    const source = { caller, operator, request: invocation.request, operation: operation.name }
    // A repeat of the call finds its earlier request and emits nothing.
    if (trail.events.size > 0) await writeTrail(runtime, tx, trail, source)
    return stored
  })
  return new Problem('approval_required', message, {
    approval: linkTo(runtime.settings.public_url, approval),
  })
}

function linkTo(public_url: string, { id, expires_at }: ApprovalRow) {
  return { id, url: `${public_url}/approvals/${id}`, expires_at: expires_at.toISOString() }
}
