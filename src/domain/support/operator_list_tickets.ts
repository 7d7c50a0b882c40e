import { withEmails } from '#domain/accounts/account_emails.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { anyOf, equals, mapPage } from '#platform/postgres/page.ts'
import { showTickets } from './show_tickets.ts'

export const operatorListTickets: OperatorHandler<'operator_list_tickets'> = async (
  { tx },
  input,
) => {
  const page = await showTickets(tx, {
    operation: 'operator_list_tickets',
    where: [...anyOf('status', input.status), ...equals('account_id', input.account_id)],
    input,
  })
  return withEmails(
    tx,
    mapPage(page, ({ account_id, ticket }) => ({ account_id, ...ticket })),
  )
}
