import { withEmails } from '#domain/accounts/account_emails.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { anyOf, equals, mapPage } from '#platform/postgres/page.ts'
import { showTickets } from './show_tickets.ts'
import { readTicketPage } from './ticket_store.ts'

export const operatorListTickets: OperatorHandler<'operator_list_tickets'> = async (
  { tx },
  input,
) => {
  const rows = await readTicketPage(tx, {
    operation: 'operator_list_tickets',
    where: [...anyOf('status', input.status), ...equals('account_id', input.account_id)],
    input,
  })
  const page = await showTickets(tx, rows)
  return withEmails(
    tx,
    mapPage(page, ({ account_id, ticket }) => ({ account_id, ...ticket })),
  )
}
