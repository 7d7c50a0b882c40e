import { useState } from 'react'
import type { Dispute } from '#contract/disputes.ts'
import { humanize, Status } from '#panel/ui/badge.tsx'
import { amount_column, createdColumn } from '#panel/ui/columns.tsx'
import { FilterBar, FilterSelect, useFilters } from '#panel/ui/filters.tsx'
import { Gavel } from '#panel/ui/icons.ts'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { merchantName } from '#panel/words/merchant_name.ts'
import { customer_column, PhoneNote } from './account_link.tsx'
import { DisputeSheet } from './dispute_sheet.tsx'
import { useOperatorList } from './operator_list.ts'
import { RowButton } from './row_button.tsx'
import type { WithAccount } from './shapes.ts'

type Row = WithAccount<Dispute> & { merchant_name: string }

const statuses = [
  ['open', 'Open'],
  ['answered', 'Merchant responded'],
  ['closed', 'Closed'],
] as const

export function Disputes() {
  const filters = useFilters(['status'])
  const list = useOperatorList<Row>('/disputes', filters.active)
  const [selected_id, setSelectedId] = useState<string | null>(null)
  const selected = list.rows?.find(({ id }) => id === selected_id)
  const columns: readonly Column<Row>[] = [
    {
      title: 'Merchant',
      sortKey: merchantName,
      cell: (row) => (
        <>
          <RowButton onClick={() => setSelectedId(row.id)}>{merchantName(row)}</RowButton>
          <PhoneNote row={row} />
          {row.status !== 'closed' && (
            <span className="num block text-sm text-soft md:hidden">
              Evidence due <Time at={row.evidence_due_at} />
            </span>
          )}
        </>
      ),
    },
    customer_column,
    { title: 'Reason', wide_only: true, cell: ({ reason }) => humanize(reason) },
    { title: 'Status', cell: ({ status, outcome }) => <Status of={outcome ?? status} /> },
    {
      title: 'Evidence',
      wide_only: true,
      cell: ({ evidence }) => <span className="num">{evidence.length}</span>,
    },
    {
      title: 'Evidence due',
      wide_only: true,
      sortKey: ({ evidence_due_at }) => evidence_due_at,
      cell: ({ status, evidence_due_at }) =>
        status === 'closed' ? '' : <Time at={evidence_due_at} />,
    },
    createdColumn('Filed'),
    amount_column,
  ]
  return (
    <>
      <PageHeader title="Disputes" description="Charges that customers have disputed." />
      <Section flush>
        <FilterBar {...filters}>
          <FilterSelect
            of={filters}
            name="status"
            label="Status"
            any="All statuses"
            options={statuses}
          />
        </FilterBar>
        <Table
          label="Disputes"
          list={list}
          columns={columns}
          empty={
            <EmptyState icon={Gavel} title="No disputes">
              Charges that customers dispute show up here.
            </EmptyState>
          }
        />
      </Section>
      {selected !== undefined && (
        <DisputeSheet dispute={selected} onClose={() => setSelectedId(null)} />
      )}
    </>
  )
}
