import { useLayoutEffect, useRef } from 'react'
import { Link } from 'wouter'
import type { Spending } from '#contract/spending.ts'
import { formatUsd } from '#panel/ui/money.tsx'
import { transactionsHref } from './links.ts'
import { dayName, dayOf, daysIn, monthName, shiftMonth } from './months.ts'

type Props = { month: string; rows: Spending['data']; previous: Spending['data']; card_id: string }

/** Spending per day, each day a link, beside the same days of the month before. */
export function DayBars({ month, rows, previous, card_id }: Props) {
  const by_day = new Map(rows.map((row) => [row.key, row]))
  const by_date = new Map(previous.map((row) => [Number(row.key.slice(8)), row.spent_usd]))
  const all = [...rows, ...previous].map(({ spent_usd }) => spent_usd)
  const highest = Math.max(1, ...all)
  const before = shiftMonth(month, -1)
  const dates = Array.from({ length: daysIn(month) }, (_, at) => at + 1)
  const last_date = Number((rows.at(-1)?.key ?? '').slice(8))
  const scroller = useScrollTo(last_date / dates.length)
  return (
    <div>
      <div className="mb-1 flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-soft">
        <LegendEntry className="bg-accent" title={monthName(month)} />
        <LegendEntry className="bg-line-strong/50" title={monthName(before)} />
        <p className="ml-auto">Highest day {formatUsd(Math.max(0, ...all))}</p>
      </div>
      {/* On a phone the days scroll, because each is a target for a finger. */}
      <div ref={scroller} className="overflow-x-auto">
        <div className="max-md:min-w-186">
          <ul
            aria-label="Spending per day"
            className="flex h-40 items-stretch gap-px border-b border-line sm:gap-1"
          >
            {dates.map((date) => (
              <DayBar
                key={date}
                days={[dayOf(month, date), dayOf(before, date)]}
                row={by_day.get(dayOf(month, date))}
                before_usd={by_date.get(date) ?? 0}
                highest={highest}
                card_id={card_id}
              />
            ))}
          </ul>
          <div className="mt-1 flex gap-px text-xs text-soft sm:gap-1" aria-hidden>
            {dates.map((date) => (
              <span key={date} className="w-0 flex-1 whitespace-nowrap">
                {date % 7 === 1 && dayName(dayOf(month, date))}
              </span>
            ))}
          </div>
        </div>
      </div>
    </div>
  )
}

type DayProps = {
  /** The day, and the same one of the month before. */
  days: readonly [day: string, day_before: string]
  row: Spending['data'][number] | undefined
  before_usd: number
  highest: number
  card_id: string
}

function DayBar({ days: [day, day_before], row, before_usd, highest, card_id }: DayProps) {
  const spent_usd = row?.spent_usd ?? 0
  const compared = before_usd > 0 ? ` (${dayName(day_before)}: ${formatUsd(before_usd)})` : ''
  const purchases = purchasesText(row?.purchases ?? 0)
  const label = `${dayName(day)}: ${formatUsd(spent_usd)}, ${purchases}${compared}`
  const bars = (
    <span className="relative flex h-full w-full items-end" title={label}>
      <Bar share={before_usd / highest} className="bg-line-strong/50" />
      <Bar share={spent_usd / highest} className="bg-accent" />
    </span>
  )
  const range = { from: day, to: day }
  const href = transactionsHref({ group_by: 'day', key: day, range, card_id })
  return (
    <li className="min-w-0 flex-1">
      {row === undefined || href === undefined ? (
        <span role="img" aria-label={label} className="block h-full">
          {bars}
        </span>
      ) : (
        <Link href={href} aria-label={label} className="block h-full rounded hover:bg-hover">
          {bars}
        </Link>
      )}
    </li>
  )
}

/** Shows the part that ends with the last day of spending; the first days may be out of sight. */
function useScrollTo(share: number) {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const { scrollWidth, clientWidth } = current
    current.scrollLeft = scrollWidth * share - clientWidth
  }, [share])
  return element
}

export const purchasesText = (count: number): string =>
  count === 1 ? '1 purchase' : `${count} purchases`

function LegendEntry({ className, title }: { className: string; title: string }) {
  return (
    <p className="flex items-center gap-1.5">
      <span aria-hidden className={`size-2.5 rounded-sm ${className}`} />
      {title}
    </p>
  )
}

function Bar({ share, className }: { share: number; className: string }) {
  const height = share <= 0 ? '0' : `max(2px, ${share * 100}%)`
  return <span className={`w-1/2 rounded-t-sm ${className}`} style={{ height }} />
}
