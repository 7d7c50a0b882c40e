import type { ActivityEvent } from '#contract/activity.ts'
import { typographic } from '#kernel/typographic.ts'
import { useOperationList } from '#panel/queries.ts'
import { Badge, humanize } from '#panel/ui/badge.tsx'
import { ExportCsv } from '#panel/ui/export_csv.tsx'
import { FilterBar, FilterSelect, useFilters } from '#panel/ui/filters.tsx'
import { Activity as ActivityIcon } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { createdRange, PeriodFilter, period_filter_names } from '#panel/ui/period.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState, NoResults } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { resourceHref } from './activity/resource_href.ts'
import { AgentFilter } from './agents/agent_filter.tsx'
import { activity_csv_columns } from './csv_columns.ts'
import { useCardNames } from './transactions/card_names.ts'

const columns: readonly Column<ActivityEvent>[] = [
  {
    title: 'Description',
    sortKey: ({ message }) => message,
    cell: ({ message }) => <span className="wrap-anywhere">{typographic(message)}</span>,
  },
  {
    title: 'Event',
    wide_only: true,
    sortKey: ({ event }) => event,
    cell: (event) => <EventName event={event} />,
  },
  {
    title: 'Amount',
    sortKey: ({ amount_usd }) => amount_usd,
    wide_only: true,
    right: true,
    cell: ({ amount_usd }) => (amount_usd === null ? '' : <Money usd={amount_usd} />),
  },
  {
    title: 'Date',
    sortKey: ({ created_at }) => created_at,
    right: true,
    cell: ({ created_at }) => (
      <span className="text-soft">
        <Time at={created_at} />
      </span>
    ),
  },
]

const tones = { info: 'neutral', warning: 'warn', error: 'bad' } as const

const EventName = ({ event: { event, severity } }: { event: ActivityEvent }) => (
  <Badge tone={tones[severity]}>{humanize(event)}</Badge>
)

const types = [
  ['topup', 'Deposits'],
  ['card', 'Cards'],
  ['spend', 'Spending'],
  ['error', 'Errors'],
] as const

export function Activity() {
  const card_names = useCardNames()
  const filters = useFilters(['type', 'card_id', 'agent', ...period_filter_names])
  const { type, card_id, agent } = filters.active
  const filter_input = {
    ...(card_id !== undefined && { card_id }),
    ...(agent !== undefined && { agent }),
    ...createdRange(filters.values),
  }
  // On the shared route a type makes it filter_activity.
  const name = type === undefined ? 'get_activity' : 'filter_activity'
  const input = type === undefined ? filter_input : { type, ...filter_input }
  const list = useOperationList(name, input)
  return (
    <>
      <PageHeader
        title="Activity"
        description="Everything that happens in your account, in real time."
        action={
          <ExportCsv
            name={name}
            input={input}
            columns={activity_csv_columns}
            file_name="activity.csv"
          />
        }
      />
      <Section flush>
        <FilterBar {...filters}>
          <FilterSelect of={filters} name="type" label="Type" any="All activity" options={types} />
          <FilterSelect
            of={filters}
            name="card_id"
            label="Card"
            any="All cards"
            options={card_names.options}
          />
          <AgentFilter of={filters} name="agent" />
          <PeriodFilter {...filters} />
        </FilterBar>
        <Table
          label="Activity"
          list={list}
          columns={columns}
          empty={<NoActivity is_filtered={filters.count > 0} />}
          href={resourceHref}
        />
      </Section>
    </>
  )
}

const NoActivity = ({ is_filtered }: { is_filtered: boolean }) =>
  is_filtered ? (
    <NoResults icon={ActivityIcon} />
  ) : (
    <EmptyState icon={ActivityIcon} title="No activity yet">
      Deposits, purchases, and card changes show up here.
    </EmptyState>
  )
