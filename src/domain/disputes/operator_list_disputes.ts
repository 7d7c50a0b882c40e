import { withEmails } from '#domain/accounts/account_emails.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { anyOf, equals } from '#platform/postgres/page.ts'
import { readDisputePage } from './dispute_store.ts'
import { showDisputePage, withMerchants } from './show_disputes.ts'

export const operatorListDisputes: OperatorHandler<'operator_list_disputes'> = async (
  { tx },
  input,
) => {
  const rows = await readDisputePage(tx, {
    operation: 'operator_list_disputes',
    input,
    where: [
      ['id is not null'],
      ...anyOf('status', input.status),
      ...anyOf('outcome', input.outcome),
      ...equals('account_id', input.account_id),
    ],
  })
  const page = await showDisputePage(tx, rows)
  return withEmails(tx, { ...page, data: await withMerchants(tx, page.data) })
}
