import { useMemo } from 'react'
import { useOperationQuery } from '#panel/queries.ts'
import { Chart } from '#panel/ui/chart.tsx'
import { formatUsd } from '#panel/ui/money.tsx'

const compact_usd = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  maximumFractionDigits: 1,
})
const formatCompact = (value: number) => compact_usd.format(value)

/** The last 100 balance changes as steps, extended to the current time. */
export function BalanceChart() {
  const points = useOperationQuery('get_balance_history', { limit: 100 }).data?.data
  const chart_data = useMemo(() => {
    const points_ascending = [...(points ?? [])].reverse()
    const last = points_ascending.at(-1)
    const times = points_ascending.map(({ created_at }) => Date.parse(created_at) / 1_000)
    const values = points_ascending.map(({ balance_usd }) => balance_usd)
    if (last === undefined) return null
    const now = Math.max(Date.now() / 1_000, (times.at(-1) ?? 0) + 60)
    const first = { time: (times[0] ?? now) - 60, value: values[0] ?? 0 }
    const before = first.value - (points_ascending[0]?.amount_usd ?? 0)
    return {
      times: [first.time, ...times, now],
      series: { name: 'Balance', values: [before, ...values, last.balance_usd] },
    }
  }, [points])
  if (chart_data === null) return null
  const latest = chart_data.series.values.at(-1) ?? 0
  return (
    <div className="mt-4 -ml-2">
      <Chart
        label={`Balance over time, currently ${formatUsd(latest)}`}
        times={chart_data.times}
        series={chart_data.series}
        format={formatCompact}
        steps
      />
    </div>
  )
}
