import Type from 'typebox'
import { Dispute } from '#contract/disputes.ts'
import { EnumList, Id, Input, Page, pageQuery, StringEnum } from '#contract/shapes.ts'
import { Ticket } from '#contract/support.ts'
import { operatorCall } from './operator_call.ts'
import { AccountFilter, owned } from './shapes.ts'

const ticket_statuses = ['open', 'pending', 'resolved', 'closed'] as const
const Words = (description: string) => Type.String({ description, minLength: 1, maxLength: 5_000 })
const ofDispute = Input({ id: Id('dsp', 'The dispute.') })

/** Disputes and tickets: what holders have asked for. */
export const case_calls = {
  list_disputes: operatorCall({
    name: 'list_disputes',
    method: 'GET',
    path: '/disputes',
    role: 'viewer',
    summary: 'Disputes of all accounts.',
    input: Input({
      ...pageQuery,
      status: Type.Optional(EnumList(['open', 'answered', 'closed'], 'Only in these states.')),
      outcome: Type.Optional(EnumList(['won', 'lost'], 'Only those that ended so.')),
      account_id: AccountFilter,
    }),
    output: Page(owned(Dispute)),
  }),
  get_dispute: operatorCall({
    name: 'get_dispute',
    method: 'GET',
    path: '/disputes/{id}',
    role: 'viewer',
    summary: 'One dispute.',
    input: ofDispute,
    output: owned(Dispute),
  }),
  answer_dispute: operatorCall({
    name: 'answer_dispute',
    method: 'POST',
    path: '/disputes/{id}/answer',
    role: 'support',
    summary: "Record the other side's answer.",
    input: Input({ ...ofDispute.properties, text: Words('What the other side says.') }),
    output: Dispute,
    problems: ['dispute_closed'],
  }),
  close_dispute: operatorCall({
    name: 'close_dispute',
    method: 'POST',
    path: '/disputes/{id}/close',
    role: 'risk',
    summary: 'Decide a dispute. Lost: the credit is taken back.',
    input: Input({
      ...ofDispute.properties,
      outcome: StringEnum(['won', 'lost'], { description: 'How it ends for the holder.' }),
      text: Type.Optional(Words('Why.')),
    }),
    output: Dispute,
    problems: ['dispute_closed'],
  }),
  list_tickets: operatorCall({
    name: 'list_tickets',
    method: 'GET',
    path: '/tickets',
    role: 'viewer',
    summary: 'Tickets of all accounts.',
    input: Input({
      ...pageQuery,
      status: Type.Optional(EnumList(ticket_statuses, 'Only in these states.')),
      account_id: AccountFilter,
    }),
    output: Page(owned(Ticket)),
  }),
  reply_ticket: operatorCall({
    name: 'reply_ticket',
    method: 'POST',
    path: '/tickets/{id}/reply',
    role: 'support',
    summary: 'Answer a ticket.',
    input: Input({
      id: Id('tkt', 'The ticket.'),
      message: Type.String({ description: 'The answer.', minLength: 1, maxLength: 10_000 }),
      status: Type.Optional(StringEnum(ticket_statuses, { description: 'pending unless said.' })),
    }),
    output: Ticket,
  }),
  set_ticket_status: operatorCall({
    name: 'set_ticket_status',
    method: 'PATCH',
    path: '/tickets/{id}',
    role: 'support',
    summary: "Change a ticket's state.",
    input: Input({
      id: Id('tkt', 'The ticket.'),
      status: StringEnum(ticket_statuses, { description: 'Its state.' }),
    }),
    output: Ticket,
  }),
} as const
