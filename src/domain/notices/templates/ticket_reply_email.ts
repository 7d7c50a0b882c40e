import type { Email } from './layout.ts'

/** Leaves out the reply itself: it may be confidential, and email is not. */
export function ticketReplyEmail(ticket_subject: string, id: string): Email {
  return {
    subject: `Support replied: ${ticket_subject}`,
    lines: ['Sign in to read the reply.'],
    button: { label: 'Read and reply', to: `/tickets/${id}` },
    footer: 'You get this because you wrote to support.',
  }
}
