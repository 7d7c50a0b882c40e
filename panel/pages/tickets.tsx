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
  { title: 'About', wide_only: true, cell: ({ category }) => inWords(category) },
  { title: 'Status', cell: ({ status }) => <Status of={status} /> },
  {
    title: 'Messages',
    wide_only: true,
    right: true,
    cell: ({ messages }) => <span className="num">{messages.length}</span>,
  },
  { title: 'Last change', right: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
]

const statuses = [
  ['open', 'Open: support is to answer'],
  ['pending', 'Pending: waits for you'],
  ['resolved', 'Resolved'],
  ['closed', 'Closed'],
] as const

export function Tickets() {
  const [is_asking, setAsking] = useState(false)
  const filters = useFilters(['status', 'category'])
  const list = useList('list_tickets', filters.given)
  const ask = (
    <Button kind="main" onClick={() => setAsking(true)}>
      <MessageSquarePlus /> Ask support
    </Button>
  )
  return (
    <>
      <PageHeader title="Support" note="Your questions, and what was answered." action={ask} />
      <Section flush>
        <FilterBar {...filters}>
          <FilterChoice
            of={filters}
            name="status"
            label="Status"
            any="Any status"
            options={statuses}
          />
          <FilterChoice
            of={filters}
            name="category"
            label="About"
            any="About anything"
            options={category_options}
          />
        </FilterBar>
        <Table
          label="Tickets"
          list={list}
          columns={columns}
          empty={
            <Empty
              icon={LifeBuoy}
              title={filters.count > 0 ? 'Nothing matches' : 'No question asked yet'}
            >
              Ask whatever this panel does not answer. An account needs an active card for it.
            </Empty>
          }
          href={({ id }) => `/tickets/${id}`}
        />
      </Section>
      {is_asking && <OpenTicket onClose={() => setAsking(false)} />}
    </>
  )
}
