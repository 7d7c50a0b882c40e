import Type from 'typebox'
import { EnumList, Id, Input, Page, pageQuery, StringEnum, Text } from '#contract/shapes.ts'
import { Ticket } from '#contract/support.ts'
import { operatorOperation } from './operation.ts'
import { AccountFilter, owned } from './shapes.ts'

const ticket_statuses = ['open', 'pending', 'resolved', 'closed'] as const
const TicketId = Id('tkt', 'ID of the ticket.')

export const operator_list_tickets = operatorOperation({
  name: 'operator_list_tickets',
  method: 'GET',
  path: '/tickets',
  role: 'viewer',
  summary: 'List support tickets of all accounts.',
  input: Input({
    ...pageQuery,
    status: Type.Optional(EnumList(ticket_statuses, 'Statuses to include.')),
    account_id: AccountFilter,
  }),
  output: Page(owned(Ticket)),
})

export const operator_reply_ticket = operatorOperation({
  name: 'operator_reply_ticket',
  method: 'POST',
  path: '/tickets/{id}/reply',
  role: 'support',
  summary: 'Reply to a ticket.',
  input: Input({
    id: TicketId,
    message: Text('The reply.', 10_000, 'The hold is released within 7 days.'),
    status: Type.Optional(
      StringEnum(ticket_statuses, { description: 'New status (default: pending).' }),
    ),
  }),
  output: Ticket,
})

export const operator_set_ticket_status = operatorOperation({
  name: 'operator_set_ticket_status',
  method: 'PATCH',
  path: '/tickets/{id}',
  role: 'support',
  summary: "Change a ticket's status.",
  input: Input({
    id: TicketId,
    status: StringEnum(ticket_statuses, { description: 'New status.' }),
  }),
  output: Ticket,
})
