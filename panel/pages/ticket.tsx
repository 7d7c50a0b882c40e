import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import type { Ticket, TicketMessage } from '#contract/support.ts'
import { useOperationMutation, useOperationQuery } from '#panel/queries.ts'
import { BackLink } from '#panel/ui/back_link.tsx'
import { humanize } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { classes } from '#panel/ui/classes.ts'
import { TextArea } from '#panel/ui/field.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { PageHeader } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { TicketStatus } from './tickets/ticket_status.tsx'

/** Replies emit no activity event, so the page polls. */
const REFETCH_MS = 10_000

export function TicketPage({ id }: { id: string }) {
  const query = useOperationQuery('get_ticket', { id }, { refetchInterval: REFETCH_MS })
  return (
    <>
      <BackLink href="/tickets">Support</BackLink>
      <QueryBoundary query={query}>{(ticket) => <TicketMessages ticket={ticket} />}</QueryBoundary>
    </>
  )
}

function TicketMessages({ ticket }: { ticket: Ticket }) {
  const { card_id, transaction_id } = ticket
  return (
    <>
      <PageHeader
        title={ticket.subject}
        description={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <TicketStatus of={ticket.status} />
            {humanize(ticket.category)}
            {card_id !== null && <RelatedLink href={`/cards/${card_id}`}>View card</RelatedLink>}
            {transaction_id !== null && (
              <RelatedLink href={`/transactions/${transaction_id}`}>View transaction</RelatedLink>
            )}
          </span>
        }
      />
      <div className="max-w-3xl">
        <ol aria-label="Messages" className="space-y-3">
          {ticket.messages.map((message) => (
            <Message key={message.id} message={message} />
          ))}
        </ol>
        <p className="mt-4 text-soft">{status_messages[ticket.status]}</p>
        {ticket.status === 'closed' ? <ClosedNote /> : <Reply id={ticket.id} />}
      </div>
    </>
  )
}

const status_messages: Record<Ticket['status'], string> = {
  open: 'We got your message. Our reply will show up here.',
  pending: 'We replied and are waiting for you.',
  resolved: 'This ticket is resolved. If you still need help, reply to open it again.',
  closed: 'This ticket is closed.',
}

const ClosedNote = () => (
  <Button asChild className="mt-3">
    <Link href="/tickets">Open a new ticket</Link>
  </Button>
)

function Reply({ id }: { id: string }) {
  const [body, setBody] = useState('')
  const reply_ticket = useOperationMutation('reply_ticket', {
    onSuccess: () => {
      setBody('')
      toast('Reply sent.')
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    reply_ticket.mutate({ id, body: body.trim() })
  }
  return (
    <form onSubmit={submit} className="mt-4 space-y-3">
      <TextArea
        label="Your reply"
        required
        maxLength={10_000}
        hint="Don’t include card numbers or passwords."
        value={body}
        onChange={({ target }) => setBody(target.value)}
        error={fieldError(reply_ticket.error, 'body')}
      />
      <ProblemNote problem={reply_ticket.error} fields={['body']} />
      <Button type="submit" kind="main" busy={reply_ticket.isPending} disabled={body.trim() === ''}>
        Send reply
      </Button>
    </form>
  )
}

const RelatedLink = ({ href, children }: { href: string; children: string }) => (
  <Link href={href} className="text-accent underline">
    {children}
  </Link>
)

function Message({ message }: { message: TicketMessage }) {
  const is_mine = message.author === 'customer'
  return (
    <li
      className={classes(
        'rounded-xl border border-line bg-sheet p-4',
        is_mine ? 'ml-6 sm:ml-16' : 'mr-6 border-transparent bg-accent-ground sm:mr-16',
      )}
    >
      <p className="mb-1 flex items-baseline justify-between gap-4 text-sm">
        <span className="font-medium">{is_mine ? 'You' : 'Support'}</span>
        <span className="text-soft">
          <Time at={message.created_at} />
        </span>
      </p>
      <p className="break-words whitespace-pre-wrap">{message.body}</p>
    </li>
  )
}
