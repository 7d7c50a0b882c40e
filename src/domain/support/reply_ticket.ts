import type { Ticket } from '#contract/support.ts'
import type { OperatorContext } from '#domain/access/operator.ts'
import { writeLetter } from '#domain/notices/notice.ts'
import { findReaders, insertNotices } from '#domain/notices/notice_store.ts'
import { type TicketRow, ticketReference, ticketView } from './ticket.ts'
import { changeTicket, insertMessage, lockTicket, messagesOf } from './ticket_store.ts'

type Reply = { id: string; message: string; status?: Ticket['status'] }

/** An answer from support. The ticket waits for its holder then, unless it is said to be done. */
export async function replyTicket(
  context: OperatorContext,
  { id, message, status = 'pending' }: Reply,
): Promise<Ticket> {
  const { tx, now, newId } = context
  const ticket = await lockTicket(tx, id)
  await insertMessage(tx, {
    account_id: ticket.account_id,
    ticket_id: id,
    id: newId('msg'),
    author: 'support',
    body: message,
    created_at: now,
  })
  await writeToHolder(context, ticket)
  return changed(context, ticket, { act: 'reply_ticket', status })
}

export async function setTicketStatus(
  context: OperatorContext,
  { id, status }: { id: string; status: Ticket['status'] },
): Promise<Ticket> {
  const ticket = await lockTicket(context.tx, id)
  return changed(context, ticket, { act: 'set_ticket_status', status })
}

async function changed(
  { tx, now, audit }: OperatorContext,
  ticket: TicketRow,
  { act, status }: { act: string; status: Ticket['status'] },
): Promise<Ticket> {
  const stored = await changeTicket(tx, ticket, { status, now })
  audit(ticket.account_id, { action: act, resource: ticketReference(ticket.id) })
  return ticketView(stored, await messagesOf(tx, [stored]))
}

/** That there is an answer, and not the answer: an e-mail is no place for what it may say. */
async function writeToHolder(
  { tx, now, settings }: OperatorContext,
  { account_id, subject }: TicketRow,
): Promise<void> {
  const [reader] = await findReaders(tx, [account_id])
  if (reader === undefined) return
  const letter = writeLetter({
    subject: 'Support has answered',
    lines: [`Support has answered your ticket "${subject}". Sign in to read it.`],
    public_url: settings.public_url,
    livemode: settings.mode === 'live',
  })
  const notice = { account_id, kind: 'ticket.answered', recipient: reader.email, ...letter, now }
  await insertNotices(tx, [notice])
}
