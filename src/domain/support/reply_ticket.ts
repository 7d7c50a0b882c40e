import type { Handler } from '#domain/context/context.ts'
import { requireMessagesLeft, requireNotClosed, ticketReference, ticketView } from './ticket.ts'
import {
  changeTicket,
  countMessages,
  findMessages,
  insertMessage,
  lockTicketOf,
} from './ticket_store.ts'

/** Adds the customer's message. The ticket waits for support again. */
export const replyTicket: Handler<'reply_ticket'> = async (context, { id, body }) => {
  const { tx, caller, now, newId } = context
  const { account_id } = caller
  const ticket = await lockTicketOf(tx, account_id, id)
  requireNotClosed(ticket)
  requireMessagesLeft(await countMessages(tx, ticket))
  await insertMessage(tx, {
    account_id,
    ticket_id: id,
    id: newId('msg'),
    author: 'customer',
    body,
    created_at: now,
  })
  const stored = await changeTicket(tx, ticket, { status: 'open', now })
  context.audit(account_id, { action: 'reply_ticket', resource: ticketReference(id) })
  return ticketView(stored, await findMessages(tx, [stored]))
}
