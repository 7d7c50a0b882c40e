import { ShoppingBag } from 'lucide-react'
import type { Card } from '#contract/cards.ts'
import type { Transaction } from '#contract/transactions.ts'
import { Amount } from '#panel/pages/transactions/amount.tsx'
import { useOperationList } from '#panel/queries.ts'
import { Status } from '#panel/ui/badge.tsx'
import { Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { categoryName } from '#panel/words/categories.ts'

const columns: readonly Column<Transaction>[] = [
  {
    title: 'Merchant',
    cell: ({ merchant_name, mcc }) => (
      <span className="block max-w-44 min-w-0 sm:max-w-none">
        <span className="block truncate font-medium">{merchant_name}</span>
        <span className="block truncate text-sm text-soft">{categoryName(mcc)}</span>
      </span>
    ),
  },
  { title: 'Status', wide_only: true, cell: ({ status }) => <Status of={status} /> },
  {
    title: 'Date',
    wide_only: true,
    right: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  {
    title: 'Amount',
    right: true,
    cell: (row) => (
      <>
        <Amount row={row} />
        <span className="mt-0.5 block md:hidden">
          <Status of={row.status} />
        </span>
      </>
    ),
  },
]

export function CardTransactions({ card }: { card: Card }) {
  const list = useOperationList('list_card_transactions', { id: card.id })
  return (
    <Section flush>
      <Table
        label="Card transactions"
        list={list}
        columns={columns}
        href={({ id }) => `/transactions/${id}`}
        empty={
          <EmptyState icon={ShoppingBag} title="No transactions yet">
            Purchases, refunds, and declines show up here.
          </EmptyState>
        }
      />
    </Section>
  )
}
