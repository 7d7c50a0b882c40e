import { Problem } from '#contract/problem.ts'
import type { Ticket, TicketMessage } from '#contract/support.ts'

/**
 * A support conversation. An open ticket waits for support, a pending one for the customer.
 * Messages are never edited.
 */
export type TicketRow = {
  account_id: string
  id: string
  subject: string
  category: Ticket['category']
  status: Ticket['status']
  card_id: string | null
  transaction_id: string | null
  version: bigint
  created_at: Date
  updated_at: Date
}

export type MessageRow = {
  account_id: string
  ticket_id: string
  id: string
  author: TicketMessage['author']
  body: string
  created_at: Date
}

export function ticketView(ticket: TicketRow, messages: readonly MessageRow[]): Ticket {
  return {
    id: ticket.id,
    subject: ticket.subject,
    category: ticket.category,
    status: ticket.status,
    card_id: ticket.card_id,
    transaction_id: ticket.transaction_id,
    messages: messages.map(({ id, author, body, created_at }) => ({
      id,
      author,
      body,
      created_at: created_at.toISOString(),
    })),
    version: Number(ticket.version),
    created_at: ticket.created_at.toISOString(),
    updated_at: ticket.updated_at.toISOString(),
  }
}

export function requireActiveCard(active_cards: number): void {
  if (active_cards > 0) return
  throw new Problem('active_card_required', 'You need an active card to contact support.')
}

export function requireNotClosed({ status }: TicketRow): void {
  if (status !== 'closed') return
  throw new Problem('ticket_closed', 'This ticket is closed. Open a new one.')
}

/** Every reply returns the whole ticket, and a response has at most 25 MB. */
const MESSAGES_MAX = 100

export function requireMessagesLeft(count: number): void {
  if (count < MESSAGES_MAX) return
  const sentence = `This ticket has ${MESSAGES_MAX} messages, the maximum. Open a new one.`
  throw new Problem('invalid_request', sentence, { status: 422 })
}

export const ticketReference = (id: string) => ({ type: 'ticket', id })
