import type { Handler } from '#domain/context/context.ts'
import { anyOf, equals, mapPage } from '#platform/postgres/page.ts'
import { approvalView } from './approval.ts'
import { readApprovalPage, withStatuses } from './approval_store.ts'

export const listApprovals: Handler<'list_approvals'> = async ({ tx, caller, now }, input) => {
  const page = await readApprovalPage(tx, {
    operation: 'list_approvals',
    where: [
      ['account_id = ?', caller.account_id],
      ...equals('grant_id', caller.grant_id),
      ...withStatuses(input.status, now),
      ...anyOf('client_id', input.agent),
    ],
    input,
  })
  return mapPage(page, (approval) => approvalView(approval, now))
}
