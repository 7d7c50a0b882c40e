import Type, { type Static } from 'typebox'
import { holderOnly, operation } from './operation.ts'
import { routes } from './routes.ts'
import {
  Id,
  Input,
  ListOf,
  Nullable,
  OneOf,
  Page,
  pageQuery,
  Timestamp,
  versioned,
} from './shapes.ts'

const categories = ['card', 'topup', 'withdrawal', 'dispute', 'account', 'other'] as const
const ticket_statuses = ['open', 'pending', 'resolved', 'closed'] as const

export const TicketMessage = Type.Object(
  {
    id: Id('msg', 'The message.'),
    author: OneOf(['customer', 'support'], {
      description: 'Who wrote it.',
      examples: ['customer'],
    }),
    body: Type.String({
      description: 'The text.',
      examples: ['My card was declined at the railway ticket machine.'],
    }),
    created_at: Timestamp('When it was written.'),
  },
  { description: 'One message of a ticket.' },
)
export type TicketMessage = Static<typeof TicketMessage>

export const Ticket = Type.Object(
  {
    id: Id('tkt', 'The ticket.'),
    subject: Type.String({ description: 'What it is about.', examples: ['Declined at a kiosk'] }),
    category: OneOf(categories, { description: 'The kind of question.', examples: ['card'] }),
    status: OneOf(ticket_statuses, {
      description: 'open: waits for support. pending: waits for you. resolved, closed: done.',
      examples: ['open'],
    }),
    card_id: Nullable(Id('card', 'The card it is about.')),
    transaction_id: Nullable(Id('txn', 'The transaction it is about.')),
    messages: Type.Array(TicketMessage, { description: 'The conversation, oldest first.' }),
    ...versioned,
  },
  { description: 'A question to support and its answers.' },
)
export type Ticket = Static<typeof Ticket>

export const open_ticket = operation({
  name: 'open_ticket',
  ...routes.open_ticket,
  status: 201,
  section: 'Support and system',
  summary: 'Ask support.',
  description:
    'Opens a ticket with a first message. Needs at least one active card on the account. Name ' +
    'the card or the transaction where there is one. Never put a card number or a password into ' +
    'a ticket. To contest a purchase use file_dispute.',
  access: holderOnly,
  input: Input({
    subject: Type.String({
      description: 'What it is about, in one line.',
      minLength: 1,
      maxLength: 200,
      examples: ['Declined at a kiosk'],
    }),
    message: Type.String({
      description: 'The question.',
      minLength: 1,
      maxLength: 10_000,
      examples: ['My card was declined at the railway ticket machine. Why?'],
    }),
    category: OneOf(categories, { description: 'The kind of question.', examples: ['card'] }),
    card_id: Type.Optional(Id('card', 'The card it is about.')),
    transaction_id: Type.Optional(Id('txn', 'The transaction it is about.')),
  }),
  output: Ticket,
  problems: ['active_card_required', 'not_found'],
})

export const list_tickets = operation({
  name: 'list_tickets',
  ...routes.list_tickets,
  status: 200,
  section: 'Support and system',
  summary: 'List tickets.',
  description: 'The tickets of the account with their conversations, by state and category.',
  access: holderOnly,
  input: Input({
    ...pageQuery,
    status: Type.Optional(ListOf(ticket_statuses, 'Only tickets in these states.')),
    category: Type.Optional(ListOf(categories, 'Only of these kinds.')),
  }),
  output: Page(Ticket),
  problems: ['invalid_cursor'],
})
