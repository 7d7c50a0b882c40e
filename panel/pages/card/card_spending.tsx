import { Link } from 'wouter'
import type { Card } from '#contract/cards.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { serviceNow } from '#panel/service_clock.ts'
import { Meter } from '#panel/ui/meter.tsx'
import { formatUsd, Money } from '#panel/ui/money.tsx'
import { Section } from '#panel/ui/section.tsx'
import { Sparkline } from '#panel/ui/sparkline.tsx'

const DAYS = 30
const DAY_MS = 86_400_000
const dayBefore = (days: number) =>
  new Date(serviceNow() - days * DAY_MS).toISOString().slice(0, 10)

/** The last 30 days of a card, and how much of its limits is used. */
export function CardSpending({ card }: { card: Card }) {
  const { spent_usd } = useDailySpending(card.id)
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
      <p className="mb-2 text-lg font-semibold">
        <Money usd={spent_usd} />
      </p>
      {spent_usd > 0 && <CardSparkline card_id={card.id} />}
      <div className="mt-3 space-y-3 empty:hidden">
        <LimitGauge card={card} period="daily" />
        <LimitGauge card={card} period="monthly" />
      </div>
    </Section>
  )
}

function useDailySpending(card_id: string): { spent_usd: number; values: number[] } {
  const days = Array.from({ length: DAYS }, (_, at) => dayBefore(DAYS - 1 - at))
  const input = { from: dayBefore(DAYS - 1), to: dayBefore(0), group_by: 'day', card_id } as const
  const spending = useOperationQuery('get_spending', input).data
  const by_day = new Map(spending?.data.map((row) => [row.key, row.spent_usd]))
  return {
    spent_usd: spending?.total_usd ?? 0,
    values: days.map((day) => by_day.get(day) ?? 0),
  }
}

/** The spending of a card on each of the last 30 days. */
export function CardSparkline({ card_id }: { card_id: string }) {
  const { spent_usd, values } = useDailySpending(card_id)
  if (spent_usd === 0)
    return <span className="text-sm whitespace-nowrap text-soft">No spending</span>
  return <Sparkline label={`Spent in the last 30 days: ${formatUsd(spent_usd)}`} values={values} />
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
