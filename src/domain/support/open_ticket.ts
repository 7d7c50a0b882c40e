import type { Handler } from '#domain/context/context.ts'
import { findTransactionOf, requireCardOf } from '#domain/transactions/transaction_store.ts'
import { requireActiveCard, ticketReference, ticketView } from './ticket.ts'
import { countActiveCards, insertMessage, insertTicket } from './ticket_store.ts'

export const openTicket: Handler<'open_ticket'> = async (context, input) => {
  const { tx, caller, now, newId } = context
  const { account_id } = caller
  requireActiveCard(await countActiveCards(tx, account_id))
  if (input.card_id !== undefined) await requireCardOf(tx, caller, input.card_id)
  if (input.transaction_id !== undefined) await findTransactionOf(tx, caller, input.transaction_id)

  const ticket = await insertTicket(tx, {
    account_id,
    id: newId('tkt'),
    subject: input.subject,
    category: input.category,
    card_id: input.card_id ?? null,
    transaction_id: input.transaction_id ?? null,
    created_at: now,
  })
  const message = {
    account_id,
    ticket_id: ticket.id,
    id: newId('msg'),
    author: 'customer',
    body: input.message,
    created_at: now,
  } as const
  await insertMessage(tx, message)
  context.audit(account_id, { action: 'open_ticket', resource: ticketReference(ticket.id) })
  return ticketView(ticket, [message])
}
