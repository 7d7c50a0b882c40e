import type { Card } from '#contract/cards.ts'
import { Status } from '#panel/ui/badge.tsx'
import { cardTitle } from '#panel/ui/card_face.tsx'
import { useFilters } from '#panel/ui/filters.tsx'
import { CreditCard } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { customer_column } from './account_link.tsx'
import { ActionButton } from './action_button.tsx'
import { useOperatorList } from './operator_list.ts'
import { SearchBar } from './search_bar.tsx'
import type { WithAccountId } from './shapes.ts'

type Row = WithAccountId<Card>

const statuses = [
  ['active', 'Active'],
  ['frozen', 'Frozen'],
  ['cancelled', 'Canceled'],
] as const

export const card_columns: readonly Column<Row>[] = [
  {
    title: 'Card',
    cell: (card) => (
      <>
        <span className="font-medium">{cardTitle(card)}</span>
        <span className="num block text-sm text-soft capitalize">
          {card.brand} ·· {card.last4}
        </span>
      </>
    ),
  },
  {
    title: 'Status',
    sortKey: ({ status }) => status,
    cell: ({ status }) => <Status of={status} />,
  },
  {
    title: 'Balance',
    wide_only: true,
    right: true,
    sortKey: ({ balance_usd }) => balance_usd,
    cell: ({ balance_usd }) => <Money usd={balance_usd} />,
  },
  {
    title: 'Actions',
    right: true,
    cell: (row) => row.status !== 'cancelled' && <RowActions card={row} />,
  },
]

function RowActions({ card }: { card: Row }) {
  const invalidates = ['/cards']
  const is_active = card.status === 'active'
  return (
    <span className="inline-flex flex-wrap justify-end gap-2">
      <ActionButton
        label={is_active ? 'Freeze' : 'Unfreeze'}
        title={is_active ? 'Freeze card?' : 'Unfreeze card?'}
        path={`/cards/${card.id}/${is_active ? 'freeze' : 'unfreeze'}`}
        invalidates={invalidates}
        success_message={is_active ? 'Card frozen.' : 'Card unfrozen.'}
      >
        {is_active
          ? 'New purchases are declined. The customer can’t unfreeze the card.'
          : 'Purchases work again, even if the customer froze the card.'}
      </ActionButton>
      <ActionButton
        label="Cancel card"
        title="Cancel card?"
        dismiss_label="Keep card"
        danger
        path={`/cards/${card.id}/cancel`}
        invalidates={invalidates}
        success_message="Card canceled."
      >
        The card stops working permanently. Its available balance returns to the customer’s account.
      </ActionButton>
    </span>
  )
}

/** The list of all customers' cards also says whose they are. */
const [card_column, ...other_columns] = card_columns
const columns: readonly Column<Row>[] = [
  ...(card_column === undefined ? [] : [card_column]),
  customer_column,
  ...other_columns,
]

export function Cards() {
  const filters = useFilters(['last4', 'status', 'account_id', 'card_id'])
  const { last4 = '', ...others } = filters.active as Record<string, string>
  // Fewer than four digits match no card, so they are not sent while being typed.
  const given = /^\d{4}$/.test(last4) ? { last4, ...others } : others
  const list = useOperatorList<Row>('/cards', given)
  return (
    <>
      <PageHeader title="Cards" description="Freeze, unfreeze, or cancel customers’ cards." />
      <Section flush>
        <SearchBar filters={filters} name="last4" label="Last 4 digits" statuses={statuses} />
        <Table
          label="Cards"
          list={list}
          columns={columns}
          empty={
            <EmptyState icon={CreditCard} title="No cards found">
              Search by the last 4 digits.
            </EmptyState>
          }
        />
      </Section>
    </>
  )
}
