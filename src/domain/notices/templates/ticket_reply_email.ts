/** Leaves out the reply itself: it may be confidential, and email is not. */
export function ticketReplyEmail(ticket_subject: string) {
  return {
    subject: `Support replied: ${ticket_subject}`,
    lines: [`Support replied to your ticket "${ticket_subject}". Sign in to read it.`],
  }
}
