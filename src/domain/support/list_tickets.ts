import type { Handler } from '#domain/context/context.ts'
import { anyOf } from '#platform/postgres/page.ts'
import { showTickets } from './show_tickets.ts'

export const listTickets: Handler<'list_tickets'> = ({ tx, caller }, input) =>
  showTickets(tx, {
    operation: 'list_tickets',
    input,
    where: [
      ['account_id = ?', caller.account_id],
      ...anyOf('status', input.status),
      ...anyOf('category', input.category),
    ],
  }).then((page) => ({ ...page, data: page.data.map(({ ticket }) => ticket) }))
