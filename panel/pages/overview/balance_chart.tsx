import { useMemo } from 'react'
import { useOperationQuery } from '#panel/queries.ts'
import { Chart } from '#panel/ui/chart.tsx'
import { formatUsd } from '#panel/ui/money.tsx'

const short = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  maximumFractionDigits: 1,
})
const inShort = (value: number) => short.format(value)

/** The last hundred changes, each holding until the next, and the last one until now. */
export function BalanceChart() {
  const points = useOperationQuery('get_balance_history', { limit: 100 }).data?.data
  const drawn = useMemo(() => {
    const rising = [...(points ?? [])].reverse()
    const last = rising.at(-1)
    const times = rising.map(({ created_at }) => Date.parse(created_at) / 1_000)
    const values = rising.map(({ balance_usd }) => balance_usd)
    if (last === undefined) return null
    const now = Math.max(Date.now() / 1_000, (times.at(-1) ?? 0) + 60)
    const first = { time: (times[0] ?? now) - 60, value: values[0] ?? 0 }
    const before = first.value - (rising[0]?.amount_usd ?? 0)
    return {
      times: [first.time, ...times, now],
      series: { name: 'Balance', values: [before, ...values, last.balance_usd] },
    }
  }, [points])
  if (drawn === null) return null
  const latest = drawn.series.values.at(-1) ?? 0
  return (
    <div className="mt-4 -ml-2">
      <Chart
        label={`Balance over time, currently ${formatUsd(latest)}`}
        times={drawn.times}
        series={drawn.series}
        format={inShort}
        steps
      />
    </div>
  )
}
