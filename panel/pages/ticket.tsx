import { LifeBuoy } from 'lucide-react'
import { useEffect } from 'react'
import { Link } from 'wouter'
import type { Ticket, TicketMessage } from '#contract/support.ts'
import { type List, useOperationList } from '#panel/queries.ts'
import { BackLink } from '#panel/ui/back_link.tsx'
import { humanize, Status } from '#panel/ui/badge.tsx'
import { classes } from '#panel/ui/classes.ts'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState, ErrorState, Skeleton } from '#panel/ui/states.tsx'
import { Time } from '#panel/ui/time.tsx'

/** Replies emit no activity event, so the page polls. */
const REFETCH_MS = 10_000

/** There is no operation for a single ticket, so this loads the list until it finds the ticket. */
export function TicketPage({ id }: { id: string }) {
  const list = useOperationList('list_tickets', { limit: 100 }, { refetchInterval: REFETCH_MS })
  const ticket = list.rows?.find((row) => row.id === id)
  const should_load_more = ticket === undefined && list.has_more && !list.is_loading_more
  useEffect(() => {
    if (should_load_more) list.loadMore()
  })
  return (
    <>
      <BackLink href="/tickets">Support</BackLink>
      {ticket === undefined ? <TicketPlaceholder list={list} /> : <Thread ticket={ticket} />}
    </>
  )
}

function TicketPlaceholder({ list }: { list: List<Ticket> }) {
  const is_loading = list.rows === undefined || list.has_more
  return (
    <Section>
      {list.problem !== null ? (
        <ErrorState problem={list.problem} retry={list.retry} />
      ) : is_loading ? (
        <Skeleton className="h-32" />
      ) : (
        <EmptyState icon={LifeBuoy} title="Ticket not found">
          Check the link, or go back to Support.
        </EmptyState>
      )}
    </Section>
  )
}

function Thread({ ticket }: { ticket: Ticket }) {
  const { card_id, transaction_id } = ticket
  return (
    <>
      <PageHeader
        title={ticket.subject}
        description={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Status of={ticket.status} />
            {humanize(ticket.category)}
            {card_id !== null && <RelatedLink href={`/cards/${card_id}`}>View card</RelatedLink>}
            {transaction_id !== null && (
              <RelatedLink href={`/transactions/${transaction_id}`}>View transaction</RelatedLink>
            )}
          </span>
        }
      />
      <ol aria-label="Messages" className="max-w-3xl space-y-3">
        {ticket.messages.map((message) => (
          <Message key={message.id} message={message} />
        ))}
      </ol>
      <p className="mt-4 text-soft">{status_messages[ticket.status]}</p>
    </>
  )
}

const status_messages: Record<Ticket['status'], string> = {
  open: 'We got your message. Our reply will show up here.',
  pending: 'We replied. If you need more help, open a new ticket with the same subject.',
  resolved: 'This ticket is resolved.',
  closed: 'This ticket is closed.',
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
