import { useLocation, useSearch } from 'wouter'
import type { Card } from '#contract/cards.ts'
import { useOperationList } from '#panel/queries.ts'
import { humanize, Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { cardColor } from '#panel/ui/card_color.ts'
import { cardTitle, formatExpiry } from '#panel/ui/card_face.tsx'
import { classes } from '#panel/ui/classes.ts'
import { ExportCsv } from '#panel/ui/export_csv.tsx'
import { FilterBar, FilterSelect, useFilters } from '#panel/ui/filters.tsx'
import { CreditCard, Plus } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { usage_labels } from '#panel/words/card_usage.ts'
import { AgentFilter } from './agents/agent_filter.tsx'
import { CardSparkline, LimitGauge, PurchaseLimit } from './card/card_spending.tsx'
import { IssueDialog } from './cards/issue_dialog.tsx'
import { card_csv_columns } from './csv_columns.ts'

const columns: readonly Column<Card>[] = [
  {
    title: 'Card',
    sortKey: cardTitle,
    cell: (card) => (
      <span className="flex items-center gap-3">
        <span
          aria-hidden
          className={classes('h-6 w-9 shrink-0 rounded max-sm:hidden', cardColor(card))}
        />
        <span className="min-w-0 wrap-anywhere">{cardTitle(card)}</span>
      </span>
    ),
  },
  {
    title: 'Number',
    sortKey: ({ last4 }) => last4,
    cell: ({ brand, last4 }) => (
      <span className="num whitespace-nowrap text-soft capitalize">
        <span className="max-sm:hidden">{brand} </span>·· {last4}
      </span>
    ),
  },
  {
    title: 'Type',
    sortKey: ({ type, usage }) => `${type} ${usage}`,
    wide_only: true,
    cell: ({ type, usage }) => (
      <span className="text-soft">
        {[humanize(type), usage_labels[usage]].filter((label) => label !== null).join(' · ')}
      </span>
    ),
  },
  {
    title: 'Expires',
    sortKey: ({ exp_year, exp_month }) => exp_year * 12 + exp_month,
    wide_only: true,
    cell: (card) => <span className="num text-soft">{formatExpiry(card)}</span>,
  },
  {
    title: 'Last 30 days',
    wide_only: true,
    cell: ({ id }) => (
      <span className="block w-24">
        <CardSparkline card_id={id} />
      </span>
    ),
  },
  {
    title: 'Limit',
    wide_only: true,
    cell: (card) => (
      <span className="block w-52 space-y-1">
        <LimitGauge card={card} period="daily" />
        <LimitGauge card={card} period="monthly" />
        <PurchaseLimit card={card} />
      </span>
    ),
  },
  {
    title: 'Status',
    sortKey: ({ status }) => status,
    cell: ({ status }) => <Status of={status} />,
  },
  {
    title: 'Balance',
    right: true,
    sortKey: ({ balance_usd }) => balance_usd,
    cell: ({ balance_usd }) => <Money usd={balance_usd} />,
  },
]

const IN_USE = 'active,frozen'

const statuses = [
  ['active', 'Active'],
  ['frozen', 'Frozen'],
  ['cancelled', 'Canceled'],
  ['active,frozen,cancelled', 'All'],
] as const

export function Cards() {
  const filters = useFilters(['status', 'agent'])
  const input = { status: IN_USE, ...filters.active }
  const list = useOperationList('list_cards', input)
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
        action={
          <>
            <ExportCsv
              name="list_cards"
              input={input}
              columns={card_csv_columns}
              file_name="cards.csv"
            />
            {issue}
          </>
        }
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
          <AgentFilter of={filters} name="agent" />
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
