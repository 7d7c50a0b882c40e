import { Link } from 'wouter'
import type { Dispute } from '#contract/disputes.ts'
import { useOperationList } from '#panel/queries.ts'
import { humanize, Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { amount_column } from '#panel/ui/columns.tsx'
import { ExportCsv } from '#panel/ui/export_csv.tsx'
import { FilterBar, FilterSelect, useFilters } from '#panel/ui/filters.tsx'
import { Gavel } from '#panel/ui/icons.ts'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState, NoResults } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { dispute_csv_columns } from './csv_columns.ts'
import { useMerchants } from './disputes/merchants.ts'

const columnsOf = (merchants: ReadonlyMap<string, string>): readonly Column<Dispute>[] => [
  {
    title: 'Merchant',
    sortKey: ({ id }) => merchants.get(id) ?? null,
    cell: ({ id, reason, created_at }) => (
      <>
        <span className="block wrap-anywhere">{merchants.get(id) ?? '…'}</span>
        <span className="block text-sm font-normal text-soft md:hidden">
          {humanize(reason)} · <Time at={created_at} />
        </span>
      </>
    ),
  },
  {
    title: 'Reason',
    wide_only: true,
    sortKey: ({ reason }) => reason,
    cell: ({ reason }) => humanize(reason),
  },
  {
    title: 'Status',
    sortKey: ({ status, outcome }) => outcome ?? status,
    cell: ({ status, outcome }) => <Status of={outcome ?? status} />,
  },
  {
    title: 'Evidence',
    sortKey: ({ evidence }) => evidence.length,
    wide_only: true,
    cell: ({ evidence }) => <span className="num">{evidence.length}</span>,
  },
  {
    title: 'Evidence due',
    sortKey: ({ evidence_due_at }) => evidence_due_at,
    wide_only: true,
    cell: ({ status, evidence_due_at }) =>
      status === 'closed' ? '' : <Time at={evidence_due_at} />,
  },
  {
    title: 'Filed',
    sortKey: ({ created_at }) => created_at,
    wide_only: true,
    right: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  amount_column,
]

const statuses = [
  ['open', 'Open'],
  ['answered', 'Merchant responded'],
  ['closed', 'Closed'],
] as const
const outcomes = [
  ['won', 'Won'],
  ['lost', 'Lost'],
] as const

export function Disputes() {
  const filters = useFilters(['status', 'outcome'])
  const list = useOperationList('list_disputes', filters.active)
  const merchants = useMerchants(list.rows)
  const to_transactions = (
    <Button asChild>
      <Link href="/transactions?status=completed&choose=dispute">Dispute a charge</Link>
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Disputes"
        description="Charges you’ve disputed and their outcomes."
        action={
          <>
            <ExportCsv
              name="list_disputes"
              input={filters.active}
              columns={dispute_csv_columns}
              file_name="disputes.csv"
            />
            {to_transactions}
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
            options={statuses}
          />
          <FilterSelect
            of={filters}
            name="outcome"
            label="Outcome"
            any="All outcomes"
            options={outcomes}
          />
        </FilterBar>
        <Table
          label="Disputes"
          list={list}
          columns={columnsOf(merchants)}
          empty={<NoDisputes is_filtered={filters.count > 0} />}
          href={({ id }) => `/disputes/${id}`}
        />
      </Section>
    </>
  )
}

function NoDisputes({ is_filtered }: { is_filtered: boolean }) {
  if (is_filtered) {
    return <NoResults icon={Gavel} />
  }
  return (
    <EmptyState icon={Gavel} title="No disputes">
      If a merchant won’t fix a wrong charge, you can dispute it within 120 days. Choose Dispute a
      charge to start.
    </EmptyState>
  )
}
