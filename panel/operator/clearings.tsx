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
    { title: 'Kind', wide_only: true, cell: ({ kind }) => inWords(kind) },
    { title: 'Came', wide_only: true, cell: ({ created_at }) => <Time at={created_at} /> },
    { title: 'Amount', right: true, cell: (row) => <span className="num">{amountOf(row)}</span> },
    {
      title: 'In dollars',
      right: true,
      cell: (row) =>
        row.amount_usd === null ? (
          <Button
            aria-label={`Say dollars: ${row.merchant_name}, ${amountOf(row)}`}
            onClick={() => setAsked(row)}
          >
            Say dollars
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
        note="Captures and refunds in a foreign currency whose dollars the network did not say."
      />
      <Section flush>
        <Table
          label="Unpriced clearings"
          list={useOperatorList<UnpricedClearing>('/unpriced_clearings')}
          columns={columns}
          empty={
            <Empty icon={Coins} title="Nothing waits for its dollars">
              What a network clears without saying dollars waits here until you say them.
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
