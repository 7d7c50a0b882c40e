import { findRecipients, insertNotices } from '#domain/notices/notice_store.ts'
import { renderEmail } from '#domain/notices/templates/layout.ts'
import { ticketReplyEmail } from '#domain/notices/templates/ticket_reply_email.ts'
import type { OperatorContext, OperatorHandler } from '#domain/operators/operator.ts'
import type { TicketRow } from './ticket.ts'
import { insertMessage, lockTicket } from './ticket_store.ts'
import { updateTicketStatus } from './update_ticket_status.ts'

/** Adds a reply from support. The ticket becomes pending unless another status is sent. */
export const operatorReplyTicket: OperatorHandler<'operator_reply_ticket'> = async (
  context,
  { id, message, status = 'pending' },
) => {
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
  return updateTicketStatus(context, ticket, { action: 'reply_ticket', status })
}

async function emailOwner(
  { tx, now, settings }: OperatorContext,
  { account_id, id, subject }: TicketRow,
): Promise<void> {
  const [recipient] = await findRecipients(tx, [account_id])
  if (recipient === undefined) return
  const email = renderEmail(ticketReplyEmail(subject, id), settings)
  await insertNotices(tx, [
    { account_id, kind: 'ticket.answered', recipient: recipient.email, ...email, now },
  ])
}
