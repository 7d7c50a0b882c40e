import { LifeBuoy, MessageSquarePlus } from 'lucide-react'
import { useState } from 'react'
import type { Ticket } from '#contract/support.ts'
import { useList } from '#panel/queries.ts'
import { inWords, Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { FilterBar, FilterChoice, useFilters } from '#panel/ui/filters.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { Empty } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { category_options } from './tickets/categories.ts'
import { OpenTicket } from './tickets/open_ticket.tsx'

const columns: readonly Column<Ticket>[] = [
  { title: 'Subject', cell: ({ subject }) => <span className="wrap-anywhere">{subject}</span> },
  { title: 'Topic', wide_only: true, cell: ({ category }) => inWords(category) },
  { title: 'Status', cell: ({ status }) => <Status of={status} /> },
  {
    title: 'Messages',
    wide_only: true,
    right: true,
    cell: ({ messages }) => <span className="num">{messages.length}</span>,
  },
  { title: 'Updated', right: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
]

const statuses = [
  ['open', 'Open'],
  ['pending', 'Awaiting your reply'],
  ['resolved', 'Resolved'],
  ['closed', 'Closed'],
] as const

export function Tickets() {
  const [is_asking, setAsking] = useState(false)
  const filters = useFilters(['status', 'category'])
  const list = useList('list_tickets', filters.given)
  const ask = (
    <Button kind="main" onClick={() => setAsking(true)}>
      <MessageSquarePlus /> New ticket
    </Button>
  )
  return (
    <>
      <PageHeader title="Support" note="Your conversations with support." action={ask} />
      <Section flush>
        <FilterBar {...filters}>
          <FilterChoice
            of={filters}
            name="status"
            label="Status"
            any="All statuses"
            options={statuses}
          />
          <FilterChoice
            of={filters}
            name="category"
            label="Topic"
            any="All topics"
            options={category_options}
          />
        </FilterBar>
        <Table
          label="Tickets"
          list={list}
          columns={columns}
          empty={
            <Empty icon={LifeBuoy} title={filters.count > 0 ? 'No results' : 'No tickets yet'}>
              Open a ticket to contact support. You need at least one active card.
            </Empty>
          }
          href={({ id }) => `/tickets/${id}`}
        />
      </Section>
      {is_asking && <OpenTicket onClose={() => setAsking(false)} />}
    </>
  )
}
