import { LifeBuoy } from 'lucide-react'
import { useEffect } from 'react'
import { Link } from 'wouter'
import type { Ticket, TicketMessage } from '#contract/support.ts'
import { type List, useList } from '#panel/queries.ts'
import { inWords, Status } from '#panel/ui/badge.tsx'
import { classes } from '#panel/ui/classes.ts'
import { BackLink } from '#panel/ui/one.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { Empty, Failed, Skeleton } from '#panel/ui/states.tsx'
import { Time } from '#panel/ui/time.tsx'

/** No event tells of an answer, so it is looked for. */
const LOOK_AGAIN_MS = 10_000

/** Tickets are read as a list only, so one is looked for page by page. */
export function TicketPage({ id }: { id: string }) {
  const list = useList('list_tickets', { limit: 100 }, { every_ms: LOOK_AGAIN_MS })
  const ticket = list.rows?.find((row) => row.id === id)
  const looks_on = ticket === undefined && list.has_more && !list.is_loading_more
  useEffect(() => {
    if (looks_on) list.loadMore()
  })
  return (
    <>
      <BackLink href="/tickets">Support</BackLink>
      {ticket === undefined ? <NotYet list={list} /> : <Thread ticket={ticket} />}
    </>
  )
}

function NotYet({ list }: { list: List<Ticket> }) {
  const is_looking = list.rows === undefined || list.has_more
  return (
    <Section>
      {list.problem !== null ? (
        <Failed problem={list.problem} retry={list.retry} />
      ) : is_looking ? (
        <Skeleton className="h-32" />
      ) : (
        <Empty icon={LifeBuoy} title="Ticket not found">
          Check the link, or go back to Support.
        </Empty>
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
        note={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Status of={ticket.status} />
            {inWords(ticket.category)}
            {card_id !== null && <About href={`/cards/${card_id}`}>View card</About>}
            {transaction_id !== null && (
              <About href={`/transactions/${transaction_id}`}>View transaction</About>
            )}
          </span>
        }
      />
      <ol aria-label="Messages" className="max-w-3xl space-y-3">
        {ticket.messages.map((message) => (
          <Message key={message.id} message={message} />
        ))}
      </ol>
      <p className="mt-4 text-soft">{whatNow[ticket.status]}</p>
    </>
  )
}

const whatNow: Record<Ticket['status'], string> = {
  open: 'We got your message. Our reply will show up here.',
  pending: 'We replied. If you need more help, open a new ticket with the same subject.',
  resolved: 'This ticket is resolved.',
  closed: 'This ticket is closed.',
}

const About = ({ href, children }: { href: string; children: string }) => (
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
