import { Link, useLocation, useSearch } from 'wouter'
import type { Ticket } from '#contract/support.ts'
import { useOperationList, useOperationQuery } from '#panel/queries.ts'
import { humanize } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { ExportCsv } from '#panel/ui/export_csv.tsx'
import { FilterBar, FilterSelect, useFilters } from '#panel/ui/filters.tsx'
import { LifeBuoy, MessageSquarePlus } from '#panel/ui/icons.ts'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState, NoResults } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { ticket_csv_columns } from './csv_columns.ts'
import { category_options } from './tickets/categories.ts'
import { OpenTicket } from './tickets/open_ticket.tsx'
import { TicketStatus, ticket_statuses } from './tickets/ticket_status.tsx'

const columns: readonly Column<Ticket>[] = [
  {
    title: 'Subject',
    sortKey: ({ subject }) => subject,
    cell: ({ subject }) => <span className="wrap-anywhere">{subject}</span>,
  },
  {
    title: 'Topic',
    wide_only: true,
    sortKey: ({ category }) => category,
    cell: ({ category }) => humanize(category),
  },
  {
    title: 'Status',
    sortKey: ({ status }) => status,
    cell: ({ status }) => <TicketStatus of={status} />,
  },
  {
    title: 'Messages',
    sortKey: ({ messages }) => messages.length,
    wide_only: true,
    right: true,
    cell: ({ messages }) => <span className="num">{messages.length}</span>,
  },
  {
    title: 'Updated',
    right: true,
    sortKey: ({ updated_at }) => updated_at,
    cell: ({ updated_at }) => <Time at={updated_at} />,
  },
]

export function Tickets() {
  const [, navigate] = useLocation()
  const is_writing = new URLSearchParams(useSearch()).has('new')
  const filters = useFilters(['status', 'category'])
  const list = useOperationList('list_tickets', filters.active)
  const new_ticket = (
    <Button kind="main" onClick={() => navigate('/tickets?new')}>
      <MessageSquarePlus /> New ticket
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Support"
        description="Your conversations with support."
        action={
          <>
            <ExportCsv
              name="list_tickets"
              input={filters.active}
              columns={ticket_csv_columns}
              file_name="tickets.csv"
            />
            {new_ticket}
          </>
        }
      />
      <Section flush>
        <FilterBar {...filters}>
          <FilterSelect
            of={filters}
            name="status"
            label="Status"
            any="All statuses"
            options={ticket_statuses}
          />
          <FilterSelect
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
          empty={<NoTickets is_filtered={filters.count > 0} />}
          href={({ id }) => `/tickets/${id}`}
        />
      </Section>
      {is_writing && <OpenTicket onClose={() => navigate('/tickets', { replace: true })} />}
    </>
  )
}

function NoTickets({ is_filtered }: { is_filtered: boolean }) {
  return is_filtered ? <NoResults icon={LifeBuoy} /> : <NoTicketsYet />
}

/** Support needs an active card, so someone without one is led to it first. */
function NoTicketsYet() {
  const cards = useOperationQuery('list_cards', { status: 'active', limit: 1 }).data
  if (cards?.data.length !== 0) {
    return (
      <EmptyState icon={LifeBuoy} title="No tickets yet">
        Open a ticket to contact support.
      </EmptyState>
    )
  }
  const issue_card = (
    <Button asChild>
      <Link href="/cards?issue">Issue card</Link>
    </Button>
  )
  return (
    <EmptyState icon={LifeBuoy} title="No tickets yet" action={issue_card}>
      You need an active card to contact support.
    </EmptyState>
  )
}
