import type { Ticket } from '#contract/support.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { type TicketRow, ticketReference, ticketView } from './ticket.ts'
import { changeTicket, findMessages } from './ticket_store.ts'

/** Changes the status of a locked ticket and audits the action. */
export async function updateTicketStatus(
  { tx, now, audit }: OperatorContext,
  ticket: TicketRow,
  { action, status }: { action: string; status: Ticket['status'] },
): Promise<Ticket> {
  const stored = await changeTicket(tx, ticket, { status, now })
  audit(ticket.account_id, { action, resource: ticketReference(ticket.id) })
  return ticketView(stored, await findMessages(tx, [stored]))
}
