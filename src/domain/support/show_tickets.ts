import type { Ticket } from '#contract/support.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Condition, PageInput, PageOf } from '#platform/postgres/page.ts'
import { ticketView } from './ticket.ts'
import { messagesOf, pageOfTickets } from './ticket_store.ts'

type OwnedTicket = { account_id: string; ticket: Ticket }

/** A page of tickets, each with its conversation and whose it is. */
export async function showTickets(
  tx: Tx,
  asked: { operation: string; input: PageInput; where: readonly Condition[] },
): Promise<PageOf<OwnedTicket>> {
  const page = await pageOfTickets(tx, asked)
  const messages = await messagesOf(tx, page.data)
  const data = page.data.map((row) => ({
    account_id: row.account_id,
    ticket: ticketView(
      row,
      messages.filter(({ ticket_id }) => ticket_id === row.id),
    ),
  }))
  return { ...page, data }
}
