import Type, { type Static } from 'typebox'
import { operation, sessionOrKeyOnly } from './operation.ts'
import { routes } from './routes.ts'
import {
  EnumList,
  Id,
  Input,
  Nullable,
  Page,
  pageQuery,
  StringEnum,
  Text,
  Timestamp,
  versioned,
} from './shapes.ts'

const categories = ['card', 'topup', 'withdrawal', 'dispute', 'account', 'other'] as const
const ticket_statuses = ['open', 'pending', 'resolved', 'closed'] as const

export const TicketMessage = Type.Object(
  {
    id: Id('msg', 'ID of the message.'),
    author: StringEnum(['customer', 'support'], {
      description: 'Who wrote the message.',
      examples: ['customer'],
    }),
    body: Type.String({
      description: 'Text of the message.',
      examples: ['My card was declined at a ticket machine.'],
    }),
    created_at: Timestamp('Time it was written.'),
  },
  { description: 'A message of a ticket.' },
)
export type TicketMessage = Static<typeof TicketMessage>

export const Ticket = Type.Object(
  {
    id: Id('tkt', 'ID of the ticket.'),
    subject: Type.String({ description: 'Subject line.', examples: ['Declined at a kiosk'] }),
    category: StringEnum(categories, { description: 'Topic of the ticket.', examples: ['card'] }),
    status: StringEnum(ticket_statuses, {
      description: 'open: waiting for support. pending: waiting for you. resolved, closed: done.',
      examples: ['open'],
    }),
    card_id: Nullable(Id('card', 'The card the ticket is about.')),
    transaction_id: Nullable(Id('txn', 'The transaction the ticket is about.')),
    messages: Type.Array(TicketMessage, { description: 'Messages, oldest first.' }),
    ...versioned,
  },
  { description: 'A support ticket with its messages.' },
)
export type Ticket = Static<typeof Ticket>

const messageText = (description: string, example: string) => Text(description, 10_000, example)

export const open_ticket = operation({
  name: 'open_ticket',
  ...routes.open_ticket,
  status: 201,
  section: 'Support and system',
  summary: 'Open a support ticket.',
  description:
    'Opens a ticket with a first message. Requires an active card. Include the card or ' +
    'transaction the ticket is about, if there is one. Never include card numbers or passwords. ' +
    'To dispute a purchase, use file_dispute.',
  access: sessionOrKeyOnly,
  input: Input({
    subject: Text('Subject line.', 200, 'Declined at a kiosk'),
    message: messageText('First message.', 'My card was declined at a ticket machine. Why?'),
    category: StringEnum(categories, { description: 'Topic of the ticket.', examples: ['card'] }),
    card_id: Type.Optional(Id('card', 'The card the ticket is about.')),
    transaction_id: Type.Optional(Id('txn', 'The transaction the ticket is about.')),
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
  description:
    "Lists the account's support tickets with their messages. Filter by status or category.",
  access: sessionOrKeyOnly,
  input: Input({
    ...pageQuery,
    status: Type.Optional(EnumList(ticket_statuses, 'Filter by status.')),
    category: Type.Optional(EnumList(categories, 'Filter by category.')),
  }),
  output: Page(Ticket),
  problems: ['invalid_cursor'],
})

const TicketId = Id('tkt', 'The ticket.')

export const get_ticket = operation({
  name: 'get_ticket',
  ...routes.get_ticket,
  status: 200,
  section: 'Support and system',
  summary: 'Retrieve a ticket.',
  description: 'Returns a support ticket with all of its messages, oldest first.',
  access: sessionOrKeyOnly,
  input: Input({ id: TicketId }),
  output: Ticket,
})

export const reply_ticket = operation({
  name: 'reply_ticket',
  ...routes.reply_ticket,
  status: 201,
  section: 'Support and system',
  summary: 'Reply to a ticket.',
  description:
    'Adds your message to a ticket and returns the ticket. It is open again afterwards: support ' +
    'responds next, even if it was resolved. A closed ticket, and one with 100 messages, takes ' +
    'no more of them; open a new one instead. Never include card numbers or passwords.',
  access: sessionOrKeyOnly,
  input: Input({
    id: TicketId,
    body: messageText('Your message.', 'It works again. Thank you!'),
  }),
  output: Ticket,
  problems: ['ticket_closed'],
  rejects_values: true,
})
