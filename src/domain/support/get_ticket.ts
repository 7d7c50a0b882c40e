import type { Handler } from '#domain/context/context.ts'
import { ticketView } from './ticket.ts'
import { findMessages, findTicketOf } from './ticket_store.ts'

export const getTicket: Handler<'get_ticket'> = async ({ tx, caller }, { id }) => {
  const ticket = await findTicketOf(tx, caller.account_id, id)
  return ticketView(ticket, await findMessages(tx, [ticket]))
}
