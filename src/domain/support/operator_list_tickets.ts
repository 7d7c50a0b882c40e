import { withEmails } from '#domain/accounts/account_emails.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { anyOf, endPageBySize, equals, mapPage } from '#platform/postgres/page.ts'
import { showTickets } from './show_tickets.ts'
import { measureMessages, readTicketPage } from './ticket_store.ts'

export const operatorListTickets: OperatorHandler<'operator_list_tickets'> = async (
  { tx },
  input,
) => {
  const query = {
    operation: 'operator_list_tickets',
    where: [...anyOf('status', input.status), ...equals('account_id', input.account_id)],
    input,
  }
  const rows = await readTicketPage(tx, query)
  const shown = endPageBySize(rows, query, await measureMessages(tx, rows.data))
  const page = await showTickets(tx, shown)
  return withEmails(
    tx,
    mapPage(page, ({ account_id, ticket }) => ({ account_id, ...ticket })),
  )
}
