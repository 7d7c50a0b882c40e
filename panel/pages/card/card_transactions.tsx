import type { Card } from '#contract/cards.ts'
import type { Transaction } from '#contract/transactions.ts'
import { purchaseState, purchaseUsd } from '#panel/pages/transactions/purchase.ts'
import {
  AmountAndStatus,
  PurchaseEvents,
  PurchaseStatus,
} from '#panel/pages/transactions/purchase_cells.tsx'
import { usePurchases } from '#panel/pages/transactions/purchase_list.ts'
import { useOperationList } from '#panel/queries.ts'
import { ShoppingBag } from '#panel/ui/icons.ts'
import { Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { categoryName } from '#panel/words/categories.ts'
import { merchantName } from '#panel/words/merchant_name.ts'

const columns: readonly Column<Transaction>[] = [
  {
    title: 'Merchant',
    sortKey: merchantName,
    cell: (row) => (
      <span className="block min-w-0">
        <span className="block font-medium wrap-anywhere">{merchantName(row)}</span>
        <span className="block truncate text-sm text-soft max-md:hidden">
          {categoryName(row.mcc)}
        </span>
        <span className="num block text-sm text-soft md:hidden">
          <Time at={row.created_at} />
        </span>
      </span>
    ),
  },
  {
    title: 'Status',
    wide_only: true,
    sortKey: purchaseState,
    cell: (row) => <PurchaseStatus row={row} />,
  },
  {
    title: 'Date',
    sortKey: ({ created_at }) => created_at,
    wide_only: true,
    right: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  {
    title: 'Amount',
    sortKey: purchaseUsd,
    right: true,
    cell: (row) => <AmountAndStatus row={row} />,
  },
]

export function CardTransactions({ card }: { card: Card }) {
  const list = usePurchases(useOperationList('list_card_transactions', { id: card.id }), '')
  return (
    <Section flush>
      <Table
        label="Card transactions"
        list={list}
        columns={columns}
        href={({ id }) => `/transactions/${id}`}
        details={(row) => <PurchaseEvents row={row} />}
        rowName={(row) => merchantName(row)}
        empty={
          <EmptyState icon={ShoppingBag} title="No transactions yet">
            Purchases, refunds, and declines show up here.
          </EmptyState>
        }
      />
    </Section>
  )
}
