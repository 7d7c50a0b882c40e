import { useMemo } from 'react'
import { humanize } from '#panel/ui/badge.tsx'
import { Chart } from '#panel/ui/chart.tsx'
import { formatUsd, Money } from '#panel/ui/money.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, PageHeader, Section } from '#panel/ui/section.tsx'
import { useOperatorQuery } from './operator_api.ts'
import type { Day, ProgramOverview } from './shapes.ts'

export function Overview() {
  const overview = useOperatorQuery<ProgramOverview>('/figures')
  return (
    <>
      <PageHeader title="Overview" note="Program activity by day (UTC)." />
      <QueryBoundary query={overview}>{(found) => <Metrics of={found} />}</QueryBoundary>
    </>
  )
}

function Metrics({ of: { totals, days } }: { of: ProgramOverview }) {
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
      <Line title="Deposits" days={days} of={depositsOf} format={formatUsd} />
      <Line title="Settled purchases" days={days} of={capturesOf} format={formatUsd} />
      <Line title="Approval rate" days={days} of={approvalOf} format={percent} />
      <Line title="New accounts" days={days} of={openedOf} format={whole} />
      <DeclineReasons days={days} />
    </div>
  )
}

const depositsOf = ({ deposited_usd }: Day) => deposited_usd
const capturesOf = ({ captured_usd }: Day) => captured_usd
const approvalOf = ({ approval_rate }: Day) => approval_rate
const openedOf = ({ accounts_opened }: Day) => accounts_opened
/** Half an account is no figure. */
const whole = (count: number) => (Number.isInteger(count) ? count.toLocaleString('en') : '')
const percent = (rate: number) => `${Math.round(rate * 100)}%`

function Total({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt className="text-soft">{name}</dt>
      <dd className="num text-xl font-semibold">{children}</dd>
    </div>
  )
}

type LineProps = {
  title: string
  days: readonly Day[]
  of(day: Day): number | null
  format(value: number): string
}

function Line({ title, days, of, format }: LineProps) {
  const times = useMemo(() => days.map(({ day }) => Date.parse(day) / 1_000), [days])
  const series = useMemo(() => ({ name: title, values: days.map(of) }), [title, days, of])
  return (
    <Section title={title}>
      <Chart label={`${title} by day`} times={times} series={series} format={format} />
    </Section>
  )
}

/** All days together, the most frequent first. */
function DeclineReasons({ days }: { days: readonly Day[] }) {
  const counts = new Map<string, number>()
  for (const { decline_reasons } of days) {
    for (const [code, count] of Object.entries(decline_reasons)) {
      counts.set(code, (counts.get(code) ?? 0) + count)
    }
  }
  const rows = [...counts].sort(([, one], [, other]) => other - one)
  return (
    <Section title="Decline reasons" className="lg:col-span-2">
      {rows.length === 0 ? (
        <p className="text-soft">No declines in this period.</p>
      ) : (
        <DescriptionList
          rows={rows.map(([code, count]) => [humanize(code), count.toLocaleString('en')])}
        />
      )}
    </Section>
  )
}
