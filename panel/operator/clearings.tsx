import { useState } from 'react'
import { humanize } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { createdColumn } from '#panel/ui/columns.tsx'
import { Coins } from '#panel/ui/icons.ts'
import { formatMoney, Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { merchantName } from '#panel/words/merchant_name.ts'
import { customer_column, PhoneNote } from './account_link.tsx'
import { ConvertClearing } from './convert_clearing.tsx'
import { useOperatorList } from './operator_list.ts'
import type { PendingConversion } from './shapes.ts'

/** Intl.NumberFormat throws for "???", the code of an unknown currency. */
const formatClearingAmount = ({ amount, currency }: PendingConversion): string =>
  /^[A-Z]{3}$/.test(currency) ? formatMoney(amount, currency) : `${amount} ${currency}`

export function Clearings() {
  const [editing, setEditing] = useState<PendingConversion | null>(null)
  const columns: readonly Column<PendingConversion>[] = [
    {
      title: 'Merchant',
      sortKey: merchantName,
      cell: (row) => (
        <>
          <span className="font-medium wrap-anywhere">{merchantName(row)}</span>
          <PhoneNote row={row} />
        </>
      ),
    },
    { title: 'Type', wide_only: true, cell: ({ kind }) => humanize(kind) },
    customer_column,
    createdColumn('Received'),
    {
      title: 'Amount',
      right: true,
      cell: (row) => <span className="num">{formatClearingAmount(row)}</span>,
    },
    {
      title: 'In USD',
      right: true,
      cell: (row) =>
        row.amount_usd === null ? (
          <Button
            aria-label={`Enter USD amount: ${merchantName(row)}, ${formatClearingAmount(row)}`}
            onClick={() => setEditing(row)}
          >
            <span>
              Enter<span className="max-md:hidden"> USD amount</span>
            </span>
          </Button>
        ) : (
          <Money usd={row.amount_usd} />
        ),
    },
  ]
  return (
    <>
      <PageHeader
        title="Clearings"
        description="Foreign-currency captures and refunds that the network sent without a USD amount."
      />
      <Section flush>
        <Table
          label="Clearings awaiting conversion"
          list={useOperatorList<PendingConversion>('/pending_conversions')}
          columns={columns}
          empty={
            <EmptyState icon={Coins} title="No clearings awaiting conversion">
              Clearings without a USD amount wait here until you enter one.
            </EmptyState>
          }
        />
      </Section>
      {editing !== null && (
        <ConvertClearing
          clearing={editing}
          amount={formatClearingAmount(editing)}
          onClose={() => setEditing(null)}
        />
      )}
    </>
  )
}
