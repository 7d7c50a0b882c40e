import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import type { Ticket } from '#contract/support.ts'
import { humanize, Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Sheet } from '#panel/ui/dialog.tsx'
import { Select, TextArea } from '#panel/ui/field.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { AccountLink } from './account_link.tsx'
import { useOperatorMutation } from './operator_api.ts'
import type { WithAccount } from './shapes.ts'

export const ticket_statuses = [
  ['open', 'Open'],
  ['pending', 'Awaiting customer'],
  ['resolved', 'Resolved'],
  ['closed', 'Closed'],
] as const

export const ticketStatusLabel = (status: string): string | undefined =>
  ticket_statuses.find(([value]) => value === status)?.[1]

type Props = { ticket: WithAccount<Ticket>; onClose(): void }

export function TicketSheet({ ticket, onClose }: Props) {
  return (
    <Sheet
      open
      onOpenChange={onClose}
      title={ticket.subject}
      description={humanize(ticket.category)}
    >
      <p className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-1">
        <Status of={ticket.status} label={ticketStatusLabel(ticket.status)} />
        <RelatedLinks ticket={ticket} />
      </p>
      <ol aria-label="Messages" className="space-y-3">
        {ticket.messages.map((message) => (
          <li key={message.id} className="rounded-lg border border-line px-3 py-2">
            <p className="flex justify-between gap-3 text-sm text-soft">
              {message.author === 'customer' ? 'Customer' : 'Support'}{' '}
              <Time at={message.created_at} />
            </p>
            <p className="mt-1 break-words whitespace-pre-wrap">{message.body}</p>
          </li>
        ))}
      </ol>
      <Reply id={ticket.id} />
    </Sheet>
  )
}

type RelatedLink = readonly [page: string, title: string, filters: Record<string, string>]

/** The account of the ticket, and its card and transaction in their lists. */
function RelatedLinks({ ticket }: { ticket: WithAccount<Ticket> }) {
  const { account_id, card_id, transaction_id: id } = ticket
  const links: RelatedLink[] = []
  if (card_id !== null) links.push(['cards', 'View card', { account_id, card_id }])
  if (id !== null) {
    links.push(['transactions', 'View transaction', { account_id, transaction_id: id }])
  }
  return (
    <>
      <AccountLink of={ticket} />
      {links.map(([page, title, filters]) => (
        <Link
          key={page}
          href={`/${page}?${new URLSearchParams(filters)}`}
          className="text-accent underline"
        >
          {title}
        </Link>
      ))}
    </>
  )
}

function Reply({ id }: { id: string }) {
  const [message, setMessage] = useState('')
  const [status, setStatus] = useState('pending')
  const mutation = useOperatorMutation<void>({
    method: 'POST',
    path: () => `/tickets/${id}/reply`,
    body: () => ({ message: message.trim(), status }),
    invalidates: ['/tickets'],
    onSuccess: () => {
      setMessage('')
      toast('Reply sent.')
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    mutation.mutate()
  }
  return (
    <form className="mt-5 space-y-3" onSubmit={submit}>
      <TextArea
        label="Reply"
        required
        maxLength={10_000}
        value={message}
        onChange={(change) => setMessage(change.target.value)}
      />
      <Select
        label="Set status to"
        options={ticket_statuses}
        value={status}
        onChange={(change) => setStatus(change.target.value)}
      />
      <ProblemNote problem={mutation.error} />
      <Button type="submit" kind="main" busy={mutation.isPending}>
        Send reply
      </Button>
    </form>
  )
}
