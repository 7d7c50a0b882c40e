import type { InputOfName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import { lockAccount } from '#domain/accounts/account_store.ts'
import { requireSessionCode } from '#domain/accounts/two_factor.ts'
import { requireCurrentPassword, requireSamePassword } from '#domain/accounts/update_account.ts'
import type { Context, Handler, PreparingContext } from '#domain/context/context.ts'
import { microsFromUsd } from '#kernel/money.ts'
import {
  type ApprovalRow,
  approvalEvent,
  approvalResource,
  approvalView,
  nameOfAgent,
  statusAt,
} from './approval.ts'
import { findApprovalOf, lockApprovalOf, saveDecision } from './approval_store.ts'

export const decideApproval: Handler<'decide_approval'> = {
  prepare: async (context, input) => {
    const confirmOwner = await checkOwner(context, input)

    return async (context) => {
      const { tx, caller, now } = context
      await confirmOwner(context)
      const pending = await lockApprovalOf(tx, caller.account_id, input.id)
      requirePending(pending, now)

      const status = input.decision === 'approve' ? 'approved' : 'declined'
      await saveDecision(tx, pending, { status, now })
      const decided = { ...pending, status, decided_at: now } as const
      const message = `You ${status} a call of ${nameOfAgent(pending.client_name)}.`
      const previous_attributes = { status: 'pending', decided_at: null }
      const event = { type: 'approval.decided', message, previous_attributes } as const
      context.emit(caller.account_id, approvalEvent(decided, now, event))
      context.audit(caller.account_id, {
        action: 'decide_approval',
        resource: approvalResource(decided),
      })
      return approvalView(decided, now)
    }
  },
}

type Confirm = (context: Context) => Promise<void>

/**
 * A large amount needs the password, and the code of a second factor: a session may be a browser
 * left open. Returns what has to be confirmed in the transaction.
 */
async function checkOwner(
  context: PreparingContext,
  { id, decision, password, totp_code }: InputOfName<'decide_approval'>,
): Promise<Confirm> {
  const { db, caller, settings } = context
  const { approval_password_usd } = settings.risk
  const approval = await findApprovalOf(db, caller.account_id, id)
  const isLarge =
    approval_password_usd !== null && approval.amount_micros > microsFromUsd(approval_password_usd)
  if (!isLarge || decision === 'decline') return async () => undefined

  if (password === undefined) throw passwordRequired(approval_password_usd)
  const checked = await requireCurrentPassword(context, password)
  await requireSessionCode(context, totp_code)
  return async ({ tx }) => {
    requireSamePassword(await lockAccount(tx, caller.account_id), checked)
  }
}

const passwordRequired = (above_usd: number) =>
  new Problem('invalid_request', `Send your password to approve more than $${above_usd}.`, {
    details: [{ field: 'password', message: `is required above $${above_usd}` }],
  })

function requirePending(approval: ApprovalRow, now: Date): void {
  const status = statusAt(approval, now)
  if (status === 'pending') return
  const reason = status === 'expired' ? 'has expired' : `was already ${status}`
  throw new Problem('approval_decided', `This approval ${reason}.`)
}
