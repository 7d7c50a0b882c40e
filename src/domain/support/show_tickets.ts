import type { Ticket } from '#contract/support.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { mapPage, type PageOf } from '#platform/postgres/page.ts'
import { type TicketRow, ticketView } from './ticket.ts'
import { findMessages } from './ticket_store.ts'

type OwnedTicket = { account_id: string; ticket: Ticket }

/** A page of tickets, each with its messages and the account it belongs to. */
export async function showTickets(tx: Tx, page: PageOf<TicketRow>): Promise<PageOf<OwnedTicket>> {
  const messages = await findMessages(tx, page.data)
  return mapPage(page, (row) => ({
    account_id: row.account_id,
    ticket: ticketView(
      row,
      messages.filter(({ ticket_id }) => ticket_id === row.id),
    ),
  }))
}
