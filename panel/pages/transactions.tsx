import { Link, useSearchParams } from 'wouter'
import type { Transaction } from '#contract/transactions.ts'
import { useOperationList } from '#panel/queries.ts'
import { humanize, Status } from '#panel/ui/badge.tsx'
import { ExportCsv } from '#panel/ui/export_csv.tsx'
import { type Filters, useFilters } from '#panel/ui/filters.tsx'
import { Receipt } from '#panel/ui/icons.ts'
import { createdRange, period_filter_names } from '#panel/ui/period.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState, NoResults } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { categoryName } from '#panel/words/categories.ts'
import { merchantName } from '#panel/words/merchant_name.ts'
import { Amount } from './transactions/amount.tsx'
import { useCardNames } from './transactions/card_names.ts'
import { event_csv_columns, purchase_csv_columns } from './transactions/csv_columns.ts'
import { TransactionFilters, transaction_filter_names } from './transactions/filters.tsx'
import {
  isStateFilter,
  matchesFilter,
  purchaseState,
  purchaseUsd,
  state_filters,
} from './transactions/purchase.ts'
import {
  AmountAndStatus,
  DisputedBadge,
  PurchaseEvents,
  PurchaseStatus,
} from './transactions/purchase_cells.tsx'
import { usePurchases } from './transactions/purchase_list.ts'

export function Transactions() {
  const filters = useFilters([...transaction_filter_names, ...period_filter_names, 'zone'])
  const { values } = filters
  const input = listInput(filters)
  const events = useOperationList('list_transactions', input)
  const purchases = usePurchases(events, values.status)
  // A type is a filter of single events; without it, the list has one row per purchase.
  const shows_events = values.type !== ''
  const is_choosing = useSearchParams()[0].get('choose') === 'dispute'
  const card_names = useCardNames()
  const columns: Column<Transaction>[] = [
    {
      title: 'Merchant',
      sortKey: merchantName,
      cell: (row) => <Merchant row={row} />,
    },
    {
      title: 'Card',
      sortKey: ({ card_id }) => card_names.of(card_id),
      wide_only: true,
      cell: (row) => <span className="wrap-anywhere text-soft">{card_names.of(row.card_id)}</span>,
    },
    ...(shows_events ? event_columns : purchase_columns),
  ]
  const empty =
    filters.count === 0 ? (
      <EmptyState icon={Receipt} title="No transactions yet">
        Purchases, refunds, and declines show up here.
      </EmptyState>
    ) : (
      <NoResults icon={Receipt} />
    )
  return (
    <>
      <PageHeader
        title="Transactions"
        description="Purchases, refunds, and declines on all your cards."
        action={
          <ExportCsv
            name="list_transactions"
            input={input}
            columns={shows_events ? event_csv_columns : purchase_csv_columns}
            keep={(row) => shows_events || matchesFilter(row, values.status)}
            file_name="transactions.csv"
          />
        }
      />
      {is_choosing && <ChooseCharge />}
      <Section flush>
        <TransactionFilters filters={filters} card_options={card_names.options} />
        <Table
          label="Transactions"
          list={shows_events ? events : purchases}
          columns={columns}
          empty={empty}
          href={({ id }) => `/transactions/${id}${is_choosing ? '?dispute' : ''}`}
          rowName={(row) => merchantName(row)}
          details={shows_events ? undefined : (row) => <PurchaseEvents row={row} />}
        />
      </Section>
    </>
  )
}

function ChooseCharge() {
  return (
    <p role="status" className="mb-4 rounded-lg bg-accent-ground px-3 py-2.5 text-accent">
      Choose the charge to dispute. You have 120 days from the day it was charged.{' '}
      <Link href="/disputes" className="font-medium underline underline-offset-2">
        Cancel
      </Link>
    </p>
  )
}

const date: Column<Transaction> = {
  title: 'Date',
  sortKey: ({ created_at }) => created_at,
  wide_only: true,
  right: true,
  cell: (row) => <Time at={row.created_at} />,
}

const event_columns: readonly Column<Transaction>[] = [
  {
    title: 'Type',
    wide_only: true,
    sortKey: ({ type }) => type,
    cell: ({ type }) => humanize(type),
  },
  {
    title: 'Status',
    sortKey: ({ status }) => status,
    cell: (row) => (
      <span className="inline-flex flex-wrap gap-1">
        <Status of={row.status} />
        {row.type === 'capture' && <DisputedBadge row={row} />}
      </span>
    ),
  },
  date,
  {
    title: 'Amount',
    right: true,
    sortKey: ({ amount_usd }) => amount_usd,
    cell: (row) => <Amount row={row} />,
  },
]

const purchase_columns: readonly Column<Transaction>[] = [
  {
    title: 'Status',
    wide_only: true,
    sortKey: purchaseState,
    cell: (row) => <PurchaseStatus row={row} />,
  },
  date,
  {
    title: 'Amount',
    right: true,
    sortKey: purchaseUsd,
    cell: (row) => <AmountAndStatus row={row} />,
  },
]

type TransactionFilterName =
  | (typeof transaction_filter_names)[number]
  | (typeof period_filter_names)[number]
  | 'zone'

/** The filters as input of list_transactions. */
function listInput({ active, values }: Filters<TransactionFilterName>) {
  const { period: _period, from: _from, to: _to, zone: _zone, status = '', ...given } = active
  const of_status = isStateFilter(status) ? { status: state_filters[status].status } : {}
  return { ...given, ...of_status, ...createdRange(values) }
}

function Merchant({ row }: { row: Transaction }) {
  return (
    <span className="block min-w-0">
      <span className="block wrap-anywhere">{merchantName(row)}</span>
      <span className="block text-sm font-normal text-soft max-md:hidden">
        {categoryName(row.mcc)}
      </span>
      <span className="num block text-sm font-normal text-soft md:hidden">
        <Time at={row.created_at} />
      </span>
    </span>
  )
}
