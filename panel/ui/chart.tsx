import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { useColorScheme } from '#panel/theme.ts'

export type Series = { name: string; values: readonly (number | null)[] }

type Props = {
  /** Describes the chart to screen readers. */
  label: string
  /** Unix timestamps in seconds, ascending. */
  times: readonly number[]
  series: Series
  format(value: number): string
  height?: number
  /** Draws steps, for values that hold until the next one, such as balances. */
  steps?: boolean
}

/** A line chart over time. It is drawn again when the theme changes, with the theme's colors. */
export function Chart({ label, times, series, format, height = 180, steps = false }: Props) {
  const container = useRef<HTMLDivElement>(null)
  const scheme = useColorScheme()
  useEffect(() => {
    const element = container.current
    if (element === null) return
    element.dataset['scheme'] = scheme
    const options = chartOptions({ element, series, format, height, steps })
    const chart = new uPlot(options, [[...times], [...series.values]], element)
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [times, series, format, height, steps, scheme])
  return (
    <div ref={container} role="img" aria-label={label} className="min-w-0" style={{ height }} />
  )
}

type ChartOptionsInput = Required<Pick<Props, 'series' | 'format' | 'height' | 'steps'>> & {
  element: HTMLElement
}

const TOKENS = ['--soft', '--line', '--accent', '--accent-ground']

function chartOptions({
  element,
  series,
  format,
  height,
  steps,
}: ChartOptionsInput): uPlot.Options {
  const [ink = '', line = '', accent = '', ground = ''] = TOKENS.map((token) =>
    resolveColor(element, token),
  )
  const isolated_points = findIsolatedPoints(series.values)
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, points: { size: 7 } },
    padding: [8, 8, 0, 0],
    scales: { y: { range: (_plot, low, high) => [Math.min(0, low), roundUp(high)] } },
    axes: chartAxes({ ink, line, format }),
    series: [
      {},
      {
        label: series.name,
        width: 1.75,
        // A point without neighbors has no line segment and would be invisible.
        points: { show: true, size: 5, width: 0, fill: accent, filter: () => isolated_points },
        stroke: accent,
        fill: ground,
        ...(steps &&
          uPlot.paths.stepped !== undefined && { paths: uPlot.paths.stepped({ align: 1 }) }),
      },
    ],
  }
}

/** Rounds up, so that the axis is labeled 0, 200, 400 and not 0, 187.5, 375. */
function roundUp(high: number): number {
  if (high <= 0) return 1
  const unit = 10 ** Math.floor(Math.log10(high))
  return unit * (ROUND_STEPS.find((step) => step * unit >= high) ?? 10)
}

const ROUND_STEPS = [1, 1.5, 2, 3, 4, 5, 6, 8, 10]

function findIsolatedPoints(values: readonly (number | null)[]): number[] {
  const isMissing = (at: number) => (values[at] ?? null) === null
  return [...values.keys()].filter((at) => !isMissing(at) && isMissing(at - 1) && isMissing(at + 1))
}

const clock_format = new Intl.DateTimeFormat('en-US', { hour: 'numeric', minute: '2-digit' })
const day_format = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' })
const DAY_S = 24 * 60 * 60

/** Labels days if the axis spans a day or more, else times of day. Repeated labels are left out. */
function timeFormatter(times: readonly number[]): (time: number) => string {
  const span_s = (times.at(-1) ?? 0) - (times[0] ?? 0)
  const format = span_s >= DAY_S ? day_format : clock_format
  let last = ''
  return (time) => {
    const text = format.format(new Date(time * 1_000))
    if (text === last) return ''
    last = text
    return text
  }
}

type ChartAxesInput = { ink: string; line: string; format(value: number): string }

function chartAxes({ ink, line, format }: ChartAxesInput): uPlot.Axis[] {
  const axis = { stroke: ink, font: '11px system-ui, sans-serif', ticks: { show: false } }
  return [
    {
      ...axis,
      grid: { show: false },
      space: 90,
      size: 30,
      values: (_plot, times) => times.map(timeFormatter(times)),
    },
    {
      ...axis,
      grid: { stroke: line, width: 1 },
      size: 62,
      splits: (_plot, _axis, low, high) => [low, (low + high) / 2, high],
      values: (_plot, ticks) => ticks.map(format),
    },
  ]
}

/** Canvas does not resolve CSS variables, so a probe element computes the color. */
function resolveColor(element: HTMLElement, token: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${token})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
