import { withEmails } from '#domain/accounts/account_emails.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { anyOf, type Condition, endPageBySize, equals } from '#platform/postgres/page.ts'
import { readDisputePage } from './dispute_store.ts'
import { measureNotes } from './evidence_store.ts'
import { showDisputePage, withMerchants } from './show_disputes.ts'

export const operatorListDisputes: OperatorHandler<'operator_list_disputes'> = async (
  { tx },
  input,
) => {
  const any_dispute: Condition = ['id is not null']
  const query = {
    operation: 'operator_list_disputes',
    input,
    where: [
      any_dispute,
      ...anyOf('status', input.status),
      ...anyOf('outcome', input.outcome),
      ...equals('account_id', input.account_id),
    ],
  }
  const rows = await readDisputePage(tx, query)
  const shown = endPageBySize(rows, query, await measureNotes(tx, rows.data))
  const page = await showDisputePage(tx, shown)
  return withEmails(tx, { ...page, data: await withMerchants(tx, page.data) })
}
