import type { Spending } from '#contract/spending.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { serviceNow } from '#panel/service_clock.ts'
import { Button } from '#panel/ui/button.tsx'
import { Select } from '#panel/ui/field.tsx'
import { useFilters } from '#panel/ui/filters.tsx'
import { ChartColumn, ChevronLeft, ChevronRight } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { Breakdown } from './spending/breakdown.tsx'
import { comparison } from './spending/comparison.ts'
import { DayBars } from './spending/day_bars.tsx'
import { monthName, monthOf, rangeOf, shiftMonth } from './spending/months.ts'
import { useCardNames } from './transactions/card_names.ts'

const breakdowns = [
  ['category', 'By category'],
  ['merchant', 'By merchant'],
  ['card', 'By card'],
  ['country', 'By country'],
] as const

export function SpendingPage() {
  const filters = useFilters(['month', 'card_id'])
  const current = monthOf(serviceNow())
  const month = /^\d{4}-(0[1-9]|1[0-2])$/.test(filters.values.month)
    ? filters.values.month
    : current
  const { card_id } = filters.values
  const show = (months: number) => filters.set('month', shiftMonth(month, months))
  return (
    <>
      <PageHeader
        title="Spending"
        description="Completed purchases by day (UTC), category, merchant, card, and country."
        action={<CardSelect card_id={card_id} onChange={(id) => filters.set('card_id', id)} />}
      />
      <div className="mb-4 flex items-center gap-2">
        <Button size="icon" aria-label="Previous month" onClick={() => show(-1)}>
          <ChevronLeft />
        </Button>
        <p className="min-w-36 text-center font-medium" aria-live="polite">
          {monthName(month)}
        </p>
        <Button
          size="icon"
          aria-label="Next month"
          disabled={month >= current}
          onClick={() => show(1)}
        >
          <ChevronRight />
        </Button>
      </div>
      {/* Mounted anew, so that no amounts of another month stand under this one while it loads. */}
      <Month key={`${month} ${card_id}`} month={month} card_id={card_id} />
    </>
  )
}

function Month({ month, card_id }: { month: string; card_id: string }) {
  const of_card = card_id === '' ? {} : { card_id }
  const range = rangeOf(month)
  const query = useOperationQuery('get_spending', { ...range, group_by: 'day', ...of_card })
  const before = shiftMonth(month, -1)
  const previous = useOperationQuery('get_spending', {
    ...rangeOf(before),
    group_by: 'day',
    ...of_card,
  }).data
  return (
    <QueryBoundary query={query}>
      {(spending) => (
        <div className="space-y-4">
          <Section>
            <Figures {...{ spending, previous, before }} />
            {hasSpending(spending, previous) && (
              <div className="mt-4">
                <DayBars
                  month={month}
                  rows={spending.data}
                  previous={previous?.data ?? []}
                  card_id={card_id}
                />
              </div>
            )}
          </Section>
          {spending.data.length === 0 ? (
            <Section flush>
              <EmptyState icon={ChartColumn} title={noPurchases(month)}>
                Purchases show up here when the merchant collects the payment.
              </EmptyState>
            </Section>
          ) : (
            <div className="grid items-start gap-4 lg:grid-cols-2">
              {breakdowns.map(([group_by, title]) => (
                <Breakdown key={group_by} {...{ group_by, title, range, card_id }} />
              ))}
            </div>
          )}
        </div>
      )}
    </QueryBoundary>
  )
}

const noPurchases = (month: string): string =>
  month === monthOf(serviceNow())
    ? 'No purchases this month'
    : `No purchases in ${monthName(month)}`

/** Without any, the chart would be an empty box. */
const hasSpending = (spending: Spending, previous: Spending | undefined): boolean =>
  spending.total_usd > 0 || (previous?.total_usd ?? 0) > 0

type FiguresProps = {
  spending: Spending
  previous: Spending | undefined
  /** The month of `previous`. */
  before: string
}

function Figures({ spending, previous, before }: FiguresProps) {
  return (
    <div className="flex flex-wrap items-end gap-x-10 gap-y-3">
      <div className="max-sm:w-full">
        <p className="text-soft">Spent</p>
        <p className="text-2xl font-semibold tracking-tight">
          <Money usd={spending.total_usd} />
        </p>
        {previous !== undefined && (
          <p className="text-sm text-soft">
            {comparison(spending, previous, { month: before, now_ms: serviceNow() })}
          </p>
        )}
      </div>
      <dl className="flex gap-x-8">
        <div>
          <dt className="text-sm text-soft">{monthName(before)}</dt>
          <dd className="font-medium">
            {previous === undefined ? '–' : <Money usd={previous.total_usd} />}
          </dd>
        </div>
        <div>
          <dt className="text-sm text-soft">Refunded</dt>
          <dd className="font-medium">
            <Money usd={spending.refunded_usd} />
          </dd>
        </div>
        <div>
          <dt className="text-sm text-soft">Declined</dt>
          <dd className="num font-medium">{spending.declined_count}</dd>
        </div>
      </dl>
    </div>
  )
}

function CardSelect({ card_id, onChange }: { card_id: string; onChange(id: string): void }) {
  const { options } = useCardNames()
  return (
    <Select
      label="Card"
      is_label_hidden
      className="md:w-auto md:max-w-64"
      value={card_id}
      onChange={(change) => onChange(change.target.value)}
      options={[['', 'All cards'], ...options]}
    />
  )
}
