import { Receipt } from 'lucide-react'
import type { Transaction } from '#contract/transactions.ts'
import { useOperationList } from '#panel/queries.ts'
import { humanize, Status } from '#panel/ui/badge.tsx'
import { useFilters } from '#panel/ui/filters.tsx'
import { createdRange, period_filter_names } from '#panel/ui/period.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { categoryName } from '#panel/words/categories.ts'
import { Amount } from './transactions/amount.tsx'
import { useCardNames } from './transactions/card_names.ts'
import { TransactionFilters, transaction_filter_names } from './transactions/filters.tsx'

export function Transactions() {
  const filters = useFilters([...transaction_filter_names, ...period_filter_names])
  const { period: _period, from: _from, to: _to, ...given } = filters.active
  const list = useOperationList('list_transactions', { ...given, ...createdRange(filters.values) })
  const card_names = useCardNames()
  const columns: Column<Transaction>[] = [
    { title: 'Merchant', cell: (row) => <Merchant row={row} /> },
    {
      title: 'Card',
      wide_only: true,
      cell: (row) => <span className="text-soft">{card_names.of(row.card_id)}</span>,
    },
    { title: 'Type', wide_only: true, cell: (row) => humanize(row.type) },
    { title: 'Status', cell: (row) => <Status of={row.status} /> },
    { title: 'Date', wide_only: true, right: true, cell: (row) => <Time at={row.created_at} /> },
    { title: 'Amount', right: true, cell: (row) => <Amount row={row} /> },
  ]
  const empty =
    filters.count === 0 ? (
      <EmptyState icon={Receipt} title="No transactions yet">
        Purchases, refunds, and declines show up here.
      </EmptyState>
    ) : (
      <EmptyState icon={Receipt} title="No results">
        Try changing or clearing your filters.
      </EmptyState>
    )
  return (
    <>
      <PageHeader
        title="Transactions"
        description="Purchases, refunds, and declines on all your cards."
      />
      <Section flush>
        <TransactionFilters filters={filters} card_options={card_names.options} />
        <Table
          label="Transactions"
          list={list}
          columns={columns}
          empty={empty}
          href={({ id }) => `/transactions/${id}`}
        />
      </Section>
    </>
  )
}

function Merchant({ row }: { row: Transaction }) {
  return (
    <span className="block min-w-0">
      <span className="block wrap-anywhere">{row.merchant_name}</span>
      <span className="block text-sm font-normal text-soft max-md:hidden">
        {categoryName(row.mcc)}
      </span>
      <span className="num block text-sm font-normal text-soft md:hidden">
        <Time at={row.created_at} />
      </span>
    </span>
  )
}
