import { Coins } from 'lucide-react'
import { useState } from 'react'
import { inWords } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { formatMoney, Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { Empty } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { useOperatorList } from './operator_list.ts'
import { PriceClearing } from './price_clearing.tsx'
import type { UnpricedClearing } from './shapes.ts'

/** A currency that nobody knows has no name that could be shown. */
const amountOf = ({ amount, currency }: UnpricedClearing): string =>
  /^[A-Z]{3}$/.test(currency) ? formatMoney(amount, currency) : `${amount} ${currency}`

export function Clearings() {
  const [asked, setAsked] = useState<UnpricedClearing | null>(null)
  const columns: readonly Column<UnpricedClearing>[] = [
    {
      title: 'Merchant',
      cell: ({ merchant_name }) => (
        <span className="font-medium wrap-anywhere">{merchant_name}</span>
      ),
    },
    { title: 'Type', wide_only: true, cell: ({ kind }) => inWords(kind) },
    { title: 'Received', wide_only: true, cell: ({ created_at }) => <Time at={created_at} /> },
    { title: 'Amount', right: true, cell: (row) => <span className="num">{amountOf(row)}</span> },
    {
      title: 'USD amount',
      right: true,
      cell: (row) =>
        row.amount_usd === null ? (
          <Button
            aria-label={`Enter USD amount: ${row.merchant_name}, ${amountOf(row)}`}
            onClick={() => setAsked(row)}
          >
            Enter USD amount
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
        note="Foreign-currency captures and refunds that the network sent without a USD amount."
      />
      <Section flush>
        <Table
          label="Clearings awaiting conversion"
          list={useOperatorList<UnpricedClearing>('/unpriced_clearings')}
          columns={columns}
          empty={
            <Empty icon={Coins} title="No clearings awaiting conversion">
              Clearings without a USD amount wait here until you enter one.
            </Empty>
          }
        />
      </Section>
      {asked !== null && (
        <PriceClearing of={asked} amount={amountOf(asked)} onClose={() => setAsked(null)} />
      )}
    </>
  )
}
