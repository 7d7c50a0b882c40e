import { withEmails } from '#domain/accounts/account_emails.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { mapPage } from '#platform/postgres/page.ts'
import { heldRefundView } from './held_refund.ts'
import { pageOfHeldRefunds } from './pending_clearing_store.ts'

export const operatorListHeldRefunds: OperatorHandler<'operator_list_held_refunds'> = async (
  { tx },
  input,
) => {
  const page = await pageOfHeldRefunds(tx, input)
  return withEmails(tx, mapPage(page, heldRefundView))
}
