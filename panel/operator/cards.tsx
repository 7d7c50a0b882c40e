import { CreditCard } from 'lucide-react'
import type { Card } from '#contract/cards.ts'
import { Status } from '#panel/ui/badge.tsx'
import { cardTitle } from '#panel/ui/card_face.tsx'
import { useFilters } from '#panel/ui/filters.tsx'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { Empty } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { ActButton } from './act_button.tsx'
import { LookUpBar } from './look_up_bar.tsx'
import { useOperatorList } from './operator_list.ts'
import type { Owned } from './shapes.ts'

type Row = Owned<Card>

const statuses = [
  ['active', 'Active'],
  ['frozen', 'Frozen'],
  ['cancelled', 'Cancelled'],
] as const

const columns: readonly Column<Row>[] = [
  {
    title: 'Card',
    cell: (card) => (
      <>
        <span className="font-medium">{cardTitle(card)}</span>
        <span className="num block text-sm text-soft">·· {card.last4}</span>
      </>
    ),
  },
  { title: 'Status', cell: ({ status }) => <Status of={status} /> },
  {
    title: 'Balance',
    wide_only: true,
    right: true,
    cell: ({ balance_usd }) => <Money usd={balance_usd} />,
  },
  { title: 'Act', right: true, cell: (row) => row.status !== 'cancelled' && <Acts of={row} /> },
]

function Acts({ of }: { of: Row }) {
  const changes = ['/cards']
  const is_active = of.status === 'active'
  return (
    <span className="inline-flex flex-wrap justify-end gap-2">
      <ActButton
        verb={is_active ? 'Freeze' : 'Unfreeze'}
        path={`/cards/${of.id}/${is_active ? 'freeze' : 'unfreeze'}`}
        changes={changes}
        done={is_active ? 'Frozen.' : 'Unfrozen.'}
      >
        {is_active
          ? 'It declines every new purchase, and its holder cannot unfreeze it.'
          : 'It pays again, whoever froze it.'}
      </ActButton>
      <ActButton
        verb="Cancel card"
        danger
        path={`/cards/${of.id}/cancel`}
        changes={changes}
        done="Cancelled."
      >
        It ends for good. What is spendable goes back to the holder's balance.
      </ActButton>
    </span>
  )
}

export function Cards() {
  const filters = useFilters(['last4', 'status'])
  const { last4 = '', ...others } = filters.given as Record<string, string>
  // Half a number finds nothing, so it is not sent.
  const given = /^\d{4}$/.test(last4) ? { last4, ...others } : others
  const list = useOperatorList<Row>('/cards', given)
  return (
    <>
      <PageHeader title="Cards" note="Found by their last four digits." />
      <Section flush>
        <LookUpBar filters={filters} name="last4" label="Last four digits" statuses={statuses} />
        <Table
          label="Cards"
          list={list}
          columns={columns}
          empty={
            <Empty icon={CreditCard} title="No card found">
              Search by the last four digits.
            </Empty>
          }
        />
      </Section>
    </>
  )
}
