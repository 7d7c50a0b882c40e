import type { Handler } from '#domain/context/context.ts'
import { anyOf, endPageBySize, mapPage } from '#platform/postgres/page.ts'
import { showTickets } from './show_tickets.ts'
import { measureMessages, readTicketPage } from './ticket_store.ts'

export const listTickets: Handler<'list_tickets'> = async ({ tx, caller }, input) => {
  const query = {
    operation: 'list_tickets',
    where: [
      ['account_id = ?', caller.account_id],
      ...anyOf('status', input.status),
      ...anyOf('category', input.category),
    ] as const,
    input,
  }
  const page = await readTicketPage(tx, query)
  const shown = endPageBySize(page, query, await measureMessages(tx, page.data))
  return mapPage(await showTickets(tx, shown), ({ ticket }) => ticket)
}
