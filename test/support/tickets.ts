import type { TicketRow } from '#domain/support/ticket.ts'
import { insertMessage, insertTicket } from '#domain/support/ticket_store.ts'
import type { MoneyRoom } from './money_room.ts'

/** Inserts an open ticket with the customer's message directly. */
export async function insertBareTicket(
  { db, dependencies, openAccount }: MoneyRoom,
  fields: { account_id?: string } = {},
): Promise<TicketRow> {
  const account_id = fields.account_id ?? (await openAccount())
  const created_at = dependencies.clock.now()
  const id = dependencies.newId('tkt', created_at)
  const about = { subject: 'Shipping', category: 'card', card_id: null } as const
  const ticket = { account_id, id, ...about, transaction_id: null, created_at }
  return db.transaction(async (tx) => {
    const row = await insertTicket(tx, ticket)
    const message = { id: dependencies.newId('msg', created_at), created_at }
    const author = { author: 'customer', body: 'Where is my card?' } as const
    await insertMessage(tx, { account_id, ticket_id: id, ...message, ...author })
    return row
  })
}
