import { useMemo, useState } from 'react'
import { Chart } from '#panel/ui/chart.tsx'
import { classes } from '#panel/ui/classes.ts'
import { formatCompactUsd, formatUsd } from '#panel/ui/money.tsx'
import { ErrorState, Skeleton } from '#panel/ui/states.tsx'
import { useBalanceSteps } from './balance_points.ts'

const ranges = [
  [7, '7 days'],
  [30, '30 days'],
  [90, '90 days'],
  [365, 'Year'],
] as const

/** The balance over a range of days, with the value under the pointer. */
export function BalanceChart() {
  const [days, setDays] = useState(30)
  const { data: steps, error, refetch } = useBalanceSteps(days)
  const series = useMemo(() => ({ name: 'Balance', values: steps?.values ?? [] }), [steps])
  const latest = steps?.values.at(-1) ?? 0
  return (
    <div className="mt-4">
      <RangePicker days={days} onPick={setDays} />
      {steps === undefined ? (
        error === null ? (
          <Skeleton className="h-45" />
        ) : (
          <ErrorState problem={error} retry={() => void refetch()} />
        )
      ) : (
        <div className="-ml-2">
          <Chart
            label={`Balance over the last ${days} days, currently ${formatUsd(latest)}`}
            times={steps.times}
            series={series}
            format={formatCompactUsd}
            formatExact={formatUsd}
            steps
          />
        </div>
      )}
      {steps?.is_cut === true && (
        <p className="mt-1 text-sm text-soft">Shows the newest 1,000 changes.</p>
      )}
    </div>
  )
}

type RangePickerProps = { days: number; onPick(days: number): void }

function RangePicker({ days, onPick }: RangePickerProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame around buttons.
    <div role="group" aria-label="Range" className="mb-2 flex justify-end gap-1">
      {ranges.map(([each, title]) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === days}
          onClick={() => onPick(each)}
          className={classes(
            'h-7 rounded-md px-2 text-sm font-medium text-soft hover:bg-hover hover:text-ink',
            each === days && 'bg-hover text-ink',
          )}
        >
          {title}
        </button>
      ))}
    </div>
  )
}
