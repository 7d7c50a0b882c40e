import { Link } from 'wouter'
import type { Card } from '#contract/cards.ts'
import type { Spending } from '#contract/spending.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { serviceNow } from '#panel/service_clock.ts'
import { Meter } from '#panel/ui/meter.tsx'
import { formatUsd, Money } from '#panel/ui/money.tsx'
import { Section } from '#panel/ui/section.tsx'
import { Sparkline } from '#panel/ui/sparkline.tsx'
import { ErrorState, Skeleton } from '#panel/ui/states.tsx'

const DAYS = 30
const DAY_MS = 86_400_000
const dayBefore = (days: number) =>
  new Date(serviceNow() - days * DAY_MS).toISOString().slice(0, 10)

/** The last 30 days of a card, and how much of its limits is used. */
export function CardSpending({ card }: { card: Card }) {
  const spending = useDailySpending(card.id)
  const link = (
    <Link
      href={`/spending?card_id=${card.id}`}
      className="text-sm font-medium text-accent hover:underline"
    >
      View spending
    </Link>
  )
  return (
    <Section title="Last 30 days" action={link}>
      {spending.data !== undefined ? (
        <>
          <p className="mb-2 text-lg font-semibold">
            <Money usd={spending.data.total_usd} />
          </p>
          {spending.data.total_usd > 0 && <CardSparkline card_id={card.id} />}
        </>
      ) : spending.error === null ? (
        <Skeleton className="h-7 w-24" />
      ) : (
        <ErrorState problem={spending.error} retry={() => void spending.refetch()} />
      )}
      <div className="mt-3 space-y-3 empty:hidden">
        <LimitGauge card={card} period="daily" />
        <LimitGauge card={card} period="monthly" />
      </div>
    </Section>
  )
}

function useDailySpending(card_id: string) {
  const input = { from: dayBefore(DAYS - 1), to: dayBefore(0), group_by: 'day', card_id } as const
  return useOperationQuery('get_spending', input)
}

function valuesByDay({ data }: Spending): number[] {
  const by_day = new Map(data.map((row) => [row.key, row.spent_usd]))
  return Array.from({ length: DAYS }, (_, at) => by_day.get(dayBefore(DAYS - 1 - at)) ?? 0)
}

/** The spending of a card on each of the last 30 days. */
export function CardSparkline({ card_id }: { card_id: string }) {
  const { data: spending, error } = useDailySpending(card_id)
  if (spending === undefined && error === null) return <Skeleton className="h-4 w-16" />
  if (spending === undefined || spending.total_usd === 0) {
    const text = spending === undefined ? 'Not available' : 'No spending'
    return <span className="text-sm whitespace-nowrap text-soft">{text}</span>
  }
  const label = `Spent in the last 30 days: ${formatUsd(spending.total_usd)}`
  return <Sparkline label={label} values={valuesByDay(spending)} />
}

const period_names = { daily: 'Today', monthly: 'This month' } as const

type GaugeProps = { card: Card; period: keyof typeof period_names }

/** Nothing for a card without this limit. */
export function LimitGauge({ card, period }: GaugeProps) {
  const max_usd = card.limits[`${period}_usd`]
  if (max_usd === null) return null
  const used_usd = card.limits.spent[`${period}_usd`]
  const text = `${formatUsd(used_usd)} of ${formatUsd(max_usd)}`
  return (
    <div>
      <p className="mb-1 flex justify-between gap-3 text-sm">
        <span className="whitespace-nowrap text-soft">{period_names[period]}</span>
        <span className="num whitespace-nowrap">{text}</span>
      </p>
      <Meter label={period_names[period]} value={used_usd} max={max_usd} text={text} />
    </div>
  )
}

/** The limit of a card that has none per day or month, so that nothing is used up. */
export function PurchaseLimit({ card: { limits } }: { card: Card }) {
  if (limits.daily_usd !== null || limits.monthly_usd !== null) return null
  const { per_transaction_usd: max_usd } = limits
  const text = max_usd === null ? 'No limit' : `${formatUsd(max_usd)} per purchase`
  return <span className="num text-sm text-soft">{text}</span>
}
