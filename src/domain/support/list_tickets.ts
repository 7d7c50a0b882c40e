import type { Handler } from '#domain/context/context.ts'
import { anyOf, mapPage } from '#platform/postgres/page.ts'
import { showTickets } from './show_tickets.ts'

export const listTickets: Handler<'list_tickets'> = async ({ tx, caller }, input) => {
  const page = await showTickets(tx, {
    operation: 'list_tickets',
    where: [
      ['account_id = ?', caller.account_id],
      ...anyOf('status', input.status),
      ...anyOf('category', input.category),
    ],
    input,
  })
  return mapPage(page, ({ ticket }) => ticket)
}
