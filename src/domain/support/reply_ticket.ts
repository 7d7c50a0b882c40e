import type { Ticket } from '#contract/support.ts'
import { findRecipients, insertNotices } from '#domain/notices/notice_store.ts'
import { renderEmail } from '#domain/notices/templates/layout.ts'
import { ticketReplyEmail } from '#domain/notices/templates/ticket_reply_email.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { type TicketRow, ticketReference, ticketView } from './ticket.ts'
import { changeTicket, findMessages, insertMessage, lockTicket } from './ticket_store.ts'

type ReplyInput = { id: string; message: string; status?: Ticket['status'] }

/** Adds a reply from support. The ticket becomes pending unless another status is sent. */
export async function replyTicket(
  context: OperatorContext,
  { id, message, status = 'pending' }: ReplyInput,
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
  await emailOwner(context, ticket)
  return updateStatus(context, ticket, { action: 'reply_ticket', status })
}

export async function setTicketStatus(
  context: OperatorContext,
  { id, status }: { id: string; status: Ticket['status'] },
): Promise<Ticket> {
  const ticket = await lockTicket(context.tx, id)
  return updateStatus(context, ticket, { action: 'set_ticket_status', status })
}

async function updateStatus(
  { tx, now, audit }: OperatorContext,
  ticket: TicketRow,
  { action, status }: { action: string; status: Ticket['status'] },
): Promise<Ticket> {
  const stored = await changeTicket(tx, ticket, { status, now })
  audit(ticket.account_id, { action, resource: ticketReference(ticket.id) })
  return ticketView(stored, await findMessages(tx, [stored]))
}

async function emailOwner(
  { tx, now, settings }: OperatorContext,
  { account_id, subject }: TicketRow,
): Promise<void> {
  const [recipient] = await findRecipients(tx, [account_id])
  if (recipient === undefined) return
  const email = renderEmail({
    ...ticketReplyEmail(subject),
    public_url: settings.public_url,
    livemode: settings.mode === 'live',
  })
  await insertNotices(tx, [
    { account_id, kind: 'ticket.answered', recipient: recipient.email, ...email, now },
  ])
}
