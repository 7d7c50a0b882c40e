import { useState } from 'react'
import { Link } from 'wouter'
import type { Spending, SpendingGroup } from '#contract/spending.ts'
import { useCardNames } from '#panel/pages/transactions/card_names.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { ChevronRight } from '#panel/ui/icons.ts'
import { formatUsd, Money } from '#panel/ui/money.tsx'
import { Section } from '#panel/ui/section.tsx'
import { ErrorState, Skeleton } from '#panel/ui/states.tsx'
import { purchasesText } from './day_bars.tsx'
import { transactionsHref } from './links.ts'
import type { MonthRange } from './months.ts'

type Props = {
  title: string
  group_by: Extract<SpendingGroup, 'category' | 'merchant' | 'card' | 'country'>
  range: MonthRange
  card_id: string
}

const ROWS_MAX = 8

/** The largest groups of a month, each a link to its purchases. */
export function Breakdown({ title, group_by, range, card_id }: Props) {
  const query = useOperationQuery('get_spending', {
    ...range,
    group_by,
    ...(card_id !== '' && { card_id }),
  })
  const [is_whole, setWhole] = useState(false)
  const card_names = useCardNames()
  if (query.data === undefined) {
    return (
      <Section title={title}>
        {query.error === null ? (
          <Skeleton className="h-24" />
        ) : (
          <ErrorState problem={query.error} retry={() => void query.refetch()} />
        )}
      </Section>
    )
  }
  const rows = query.data.data
  // A button for a single row would take the room of that row.
  const shown = is_whole || rows.length === ROWS_MAX + 1 ? rows.length : ROWS_MAX
  const rest = rows.slice(shown)
  const rest_usd = rest.reduce((sum, { spent_usd }) => sum + spent_usd, 0)
  return (
    <Section title={title} flush>
      <ul className="divide-y divide-line">
        {rows.slice(0, shown).map((row) => {
          const href = transactionsHref({ group_by, key: row.key, range, card_id })
          const line = (
            <Line
              row={row}
              title={group_by === 'card' ? card_names.of(row.key) : row.label}
              total_usd={query.data.total_usd}
              is_link={href !== undefined}
            />
          )
          return (
            <li key={row.key}>
              {href === undefined ? (
                line
              ) : (
                <Link href={href} className="block hover:bg-hover">
                  {line}
                </Link>
              )}
            </li>
          )
        })}
        {rest.length > 0 && (
          <li className="flex items-center justify-between gap-3 py-1.5 pr-11 pl-2">
            <Button kind="quiet" size="small" onClick={() => setWhole(true)}>
              Show {rest.length} more
            </Button>
            <Money usd={Math.round(rest_usd * 1e6) / 1e6} className="text-soft" />
          </li>
        )}
      </ul>
    </Section>
  )
}

type LineProps = {
  row: Spending['data'][number]
  title: string
  total_usd: number
  is_link: boolean
}

function Line({ row, title, total_usd, is_link }: LineProps) {
  const share = total_usd <= 0 ? 0 : row.spent_usd / total_usd
  return (
    <span className="flex items-center gap-3 px-4 py-2.5">
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{title}</span>
        <span className="mt-1 block h-1.5 overflow-hidden rounded-full bg-line">
          <span
            className="block h-full rounded-full bg-accent"
            style={{ width: `${share * 100}%` }}
          />
        </span>
        <span className="mt-1 block text-sm text-soft">
          {purchasesText(row.purchases)}
          {row.refunded_usd > 0 && `, ${formatUsd(row.refunded_usd)} refunded`}
        </span>
      </span>
      {/* One width for all amounts, so that the bars of a list have tracks of one length. */}
      <Money usd={row.spent_usd} className="min-w-24 text-right font-medium" />
      <ChevronRight
        className={`size-4 shrink-0 text-soft ${is_link ? '' : 'invisible'}`}
        aria-hidden
      />
    </span>
  )
}
