import { CreditCard, Plus } from 'lucide-react'
import { useLocation, useSearch } from 'wouter'
import type { Card } from '#contract/cards.ts'
import { useOperationList } from '#panel/queries.ts'
import { Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { cardTitle, formatExpiry } from '#panel/ui/card_face.tsx'
import { FilterBar, FilterSelect, useFilters } from '#panel/ui/filters.tsx'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { IssueDialog } from './cards/issue_dialog.tsx'

const columns: readonly Column<Card>[] = [
  { title: 'Card', cell: cardTitle },
  {
    title: 'Number',
    cell: ({ brand, last4 }) => (
      <span className="num whitespace-nowrap text-soft capitalize">
        <span className="max-sm:hidden">{brand} </span>·· {last4}
      </span>
    ),
  },
  {
    title: 'Type',
    wide_only: true,
    cell: ({ type }) => <span className="text-soft capitalize">{type}</span>,
  },
  {
    title: 'Expires',
    wide_only: true,
    cell: (card) => <span className="num text-soft">{formatExpiry(card)}</span>,
  },
  { title: 'Status', cell: ({ status }) => <Status of={status} /> },
  { title: 'Balance', right: true, cell: ({ balance_usd }) => <Money usd={balance_usd} /> },
]

const IN_USE = 'active,frozen'

const statuses = [
  ['active', 'Active'],
  ['frozen', 'Frozen'],
  ['cancelled', 'Canceled'],
  ['active,frozen,cancelled', 'All'],
] as const

export function Cards() {
  const filters = useFilters(['status'])
  const list = useOperationList('list_cards', { status: IN_USE, ...filters.active })
  const [, navigate] = useLocation()
  const is_issuing = new URLSearchParams(useSearch()).has('issue')
  const issue = (
    <Button kind="main" onClick={() => navigate('/cards?issue')}>
      <Plus /> Issue card
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Cards"
        description="Each card has its own balance, limits, and rules."
        action={issue}
      />
      <Section flush>
        <FilterBar {...filters}>
          <FilterSelect
            of={filters}
            name="status"
            label="Status"
            any="Active and frozen"
            options={statuses}
          />
        </FilterBar>
        <Table
          label="Cards"
          list={list}
          columns={columns}
          href={({ id }) => `/cards/${id}`}
          empty={
            <EmptyState icon={CreditCard} title="No cards" action={issue}>
              Issue a card to start spending.
            </EmptyState>
          }
        />
      </Section>
      <IssueDialog open={is_issuing} onClose={() => navigate('/cards', { replace: true })} />
    </>
  )
}
