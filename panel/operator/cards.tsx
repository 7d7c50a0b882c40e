import type { Card } from '#contract/cards.ts'
import { Status } from '#panel/ui/badge.tsx'
import { cardLabel, cardTitle } from '#panel/ui/card_face.tsx'
import { useFilters } from '#panel/ui/filters.tsx'
import { CreditCard } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { AccountLink, customer_column } from './account_link.tsx'
import { ActionButton } from './action_button.tsx'
import { useOperatorList } from './operator_list.ts'
import { SearchBar } from './search_bar.tsx'
import type { WithAccount } from './shapes.ts'

type Row = WithAccount<Card>

const statuses = [
  ['active', 'Active'],
  ['frozen', 'Frozen'],
  ['cancelled', 'Canceled'],
] as const

function CardCell({ card }: { card: Row }) {
  return (
    <>
      <span className="font-medium wrap-anywhere">{cardTitle(card)}</span>
      <span className="num block text-sm text-soft capitalize">
        {card.brand} ·· {card.last4}
      </span>
      <span className="block text-sm md:hidden">
        <Money usd={card.balance_usd} />
      </span>
    </>
  )
}

const other_columns: readonly Column<Row>[] = [
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
  // Canceling returns money to the account, whose page also counts active cards.
  const invalidates = ['/cards', '/accounts']
  const is_active = card.status === 'active'
  const name = cardLabel(card)
  return (
    <span className="inline-flex flex-wrap justify-end gap-2 max-md:flex-col">
      <ActionButton
        label={is_active ? 'Freeze' : 'Unfreeze'}
        title={`${is_active ? 'Freeze' : 'Unfreeze'} ${name}?`}
        aria_label={`${is_active ? 'Freeze' : 'Unfreeze'} ${name}`}
        path={`/cards/${card.id}/${is_active ? 'freeze' : 'unfreeze'}`}
        invalidates={invalidates}
        success_message={is_active ? 'Card frozen.' : 'Card unfrozen.'}
      >
        {is_active
          ? `New purchases are declined. ${card.account_email} can’t unfreeze the card.`
          : 'Purchases work again. This also undoes a freeze by the customer.'}
      </ActionButton>
      <ActionButton
        label="Cancel card"
        title={`Cancel ${name}?`}
        aria_label={`Cancel card: ${name}`}
        dismiss_label="Keep card"
        danger
        path={`/cards/${card.id}/cancel`}
        invalidates={invalidates}
        success_message="Card canceled."
      >
        The card stops working permanently. Its available balance returns to {card.account_email}.
      </ActionButton>
    </span>
  )
}

/** The cards of one account. */
export const card_columns: readonly Column<Row>[] = [
  { title: 'Card', cell: (card) => <CardCell card={card} /> },
  ...other_columns,
]

/** The list of all customers' cards also says whose they are. */
const columns: readonly Column<Row>[] = [
  {
    title: 'Card',
    cell: (card) => (
      <>
        <CardCell card={card} />
        <span className="block text-sm md:hidden">
          <AccountLink of={card} />
        </span>
      </>
    ),
  },
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
