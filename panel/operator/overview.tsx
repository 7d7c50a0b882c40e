import { useMemo } from 'react'
import { declineLabel } from '#contract/decline.ts'
import { humanize } from '#panel/ui/badge.tsx'
import { Chart } from '#panel/ui/chart.tsx'
import { formatCompactUsd, formatUsd, Money } from '#panel/ui/money.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, PageHeader, Section } from '#panel/ui/section.tsx'
import { useOperatorQuery } from './operator_api.ts'
import type { Day, ProgramOverview } from './shapes.ts'

export function Overview() {
  const overview = useOperatorQuery<ProgramOverview>('/figures')
  return (
    <>
      <PageHeader title="Overview" description="Program activity by day (UTC), last 30 days." />
      <QueryBoundary query={overview}>{(found) => <Metrics overview={found} />}</QueryBoundary>
    </>
  )
}

function Metrics({ overview: { totals, days } }: { overview: ProgramOverview }) {
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Section className="lg:col-span-2">
        <dl className="grid grid-cols-2 gap-x-8 gap-y-4 sm:grid-cols-3 lg:flex lg:gap-x-12">
          <Total name="Accounts">{totals.accounts.toLocaleString('en')}</Total>
          <Total name="Suspended">{totals.accounts_suspended.toLocaleString('en')}</Total>
          <Total name="Active cards">{totals.cards_active.toLocaleString('en')}</Total>
          <Total name="Account balances">
            <Money usd={totals.treasuries_usd} />
          </Total>
          <Total name="Card balances">
            <Money usd={totals.cards_usd} />
          </Total>
          <Total name="Owed by customers">
            <Money usd={totals.owed_usd} />
          </Total>
        </dl>
      </Section>
      <DayChart title="Deposits" days={days} value={depositedUsd} {...usd_formats} />
      <DayChart title="Settled purchases" days={days} value={capturedUsd} {...usd_formats} />
      <DayChart title="Approval rate" days={days} value={approvalRate} format={formatPercent} />
      <DayChart title="New accounts" days={days} value={accountsOpened} format={formatCount} />
      <DeclineReasons days={days} />
    </div>
  )
}

const depositedUsd = ({ deposited_usd }: Day) => deposited_usd
const capturedUsd = ({ captured_usd }: Day) => captured_usd
const approvalRate = ({ approval_rate }: Day) => approval_rate
const accountsOpened = ({ accounts_opened }: Day) => accounts_opened
const usd_formats = { format: formatCompactUsd, formatExact: formatUsd }
/** Leaves out fractional axis labels. */
const formatCount = (count: number) => (Number.isInteger(count) ? count.toLocaleString('en') : '')
const formatPercent = (rate: number) => `${Math.round(rate * 100)}%`

function Total({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt className="text-soft">{name}</dt>
      <dd className="num text-xl font-semibold">{children}</dd>
    </div>
  )
}

type DayChartProps = {
  title: string
  days: readonly Day[]
  value(day: Day): number | null
  format(value: number): string
  formatExact?(value: number): string
}

function DayChart({ title, days, value, ...formats }: DayChartProps) {
  const times = useMemo(() => days.map(({ day }) => Date.parse(day) / 1_000), [days])
  const series = useMemo(() => ({ name: title, values: days.map(value) }), [title, days, value])
  return (
    <Section title={title}>
      {series.values.every((each) => each === null || each === 0) ? (
        <p className="grid h-45 place-items-center text-soft">None in the last 30 days</p>
      ) : (
        <Chart label={`${title} by day`} times={times} series={series} {...formats} days />
      )}
    </Section>
  )
}

/** Totals over all days, most frequent first. */
function DeclineReasons({ days }: { days: readonly Day[] }) {
  const counts = new Map<string, number>()
  for (const { decline_reasons } of days) {
    for (const [code, count] of Object.entries(decline_reasons)) {
      counts.set(code, (counts.get(code) ?? 0) + count)
    }
  }
  const rows = [...counts].sort(([, one], [, other]) => other - one)
  return (
    <Section title="Decline reasons, last 30 days" className="lg:col-span-2">
      {rows.length === 0 ? (
        <p className="text-soft">No declines in this period.</p>
      ) : (
        <DescriptionList
          rows={rows.map(([code, count]) => [
            humanize(declineLabel(code)),
            count.toLocaleString('en'),
          ])}
        />
      )}
    </Section>
  )
}
