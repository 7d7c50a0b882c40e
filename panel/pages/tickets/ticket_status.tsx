import type { Ticket } from '#contract/support.ts'
import { Status } from '#panel/ui/badge.tsx'

export const ticket_statuses = [
  ['open', 'Open'],
  ['pending', 'Awaiting your reply'],
  ['resolved', 'Resolved'],
  ['closed', 'Closed'],
] as const

const labels = new Map<string, string>(ticket_statuses)

export function TicketStatus({ of: status }: { of: Ticket['status'] }) {
  return <Status of={status} label={labels.get(status)} />
}
