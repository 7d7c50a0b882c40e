import { useState } from 'react'
import type { Ticket } from '#contract/support.ts'
import { humanize, Status } from '#panel/ui/badge.tsx'
import { FilterBar, FilterSelect, useFilters } from '#panel/ui/filters.tsx'
import { LifeBuoy } from '#panel/ui/icons.ts'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { AccountLink, customer_column } from './account_link.tsx'
import { useOperatorList } from './operator_list.ts'
import { RowButton } from './row_button.tsx'
import type { WithAccount } from './shapes.ts'
import { TicketSheet, ticket_statuses, ticketStatusLabel } from './ticket_sheet.tsx'

type Row = WithAccount<Ticket>

export function Tickets() {
  const filters = useFilters(['status'])
  const list = useOperatorList<Row>('/tickets', filters.active)
  const [selected_id, setSelectedId] = useState<string | null>(null)
  const selected = list.rows?.find(({ id }) => id === selected_id)
  const columns: readonly Column<Row>[] = [
    {
      title: 'Subject',
      cell: (row) => (
        <>
          <RowButton onClick={() => setSelectedId(row.id)}>{row.subject}</RowButton>
          <span className="block text-sm md:hidden">
            <AccountLink of={row} />
          </span>
        </>
      ),
    },
    customer_column,
    { title: 'Topic', wide_only: true, cell: ({ category }) => humanize(category) },
    {
      title: 'Status',
      sortKey: ({ status }) => status,
      cell: ({ status }) => <Status of={status} label={ticketStatusLabel(status)} />,
    },
    {
      title: 'Updated',
      right: true,
      sortKey: ({ updated_at }) => updated_at,
      cell: ({ updated_at }) => <Time at={updated_at} />,
    },
  ]
  return (
    <>
      <PageHeader title="Tickets" description="Messages from customers." />
      <Section flush>
        <FilterBar {...filters}>
          <FilterSelect
            of={filters}
            name="status"
            label="Status"
            any="All statuses"
            options={ticket_statuses}
          />
        </FilterBar>
        <Table
          label="Tickets"
          list={list}
          columns={columns}
          empty={
            <EmptyState icon={LifeBuoy} title="No tickets">
              Messages from customers show up here.
            </EmptyState>
          }
        />
      </Section>
      {selected !== undefined && (
        <TicketSheet ticket={selected} onClose={() => setSelectedId(null)} />
      )}
    </>
  )
}
