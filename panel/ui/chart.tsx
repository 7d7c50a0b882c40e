import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import './valid_language.ts'
import uPlot from 'uplot'
import { useColorScheme } from '#panel/theme.ts'

type Series = { name: string; values: readonly (number | null)[] }

type Props = {
  /** Describes the chart to screen readers. */
  label: string
  /** Unix timestamps in seconds, ascending. */
  times: readonly number[]
  series: Series
  format(value: number): string
  /** The value under the pointer; like the axis if absent. */
  formatExact?(value: number): string
  height?: number
  /** Draws steps, for values that hold until the next one, such as balances. */
  steps?: boolean
  /** One value per UTC day: draws bars, and names the day instead of a time. */
  days?: boolean
}

/** A chart over time. It is drawn again when the theme changes, with the theme's colors. */
export function Chart(props: Props) {
  const { label, times, series, format, formatExact = format, height = 180 } = props
  const { steps = false, days = false } = props
  const container = useRef<HTMLDivElement>(null)
  const scheme = useColorScheme()
  useEffect(() => {
    const element = container.current
    if (element === null) return
    element.dataset['scheme'] = scheme
    const readout = makeReadout(element, formatExact, { steps, days })
    const options = chartOptions({ element, series, format, height, steps, days, readout })
    const chart = new uPlot(options, [[...times], [...series.values]], element)
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
      readout.remove()
    }
  }, [times, series, format, formatExact, height, steps, days, scheme])
  return (
    <div
      ref={container}
      role="img"
      aria-label={label}
      className="relative min-w-0"
      style={{ height }}
    />
  )
}

type ChartOptionsInput = Required<
  Pick<Props, 'series' | 'format' | 'height' | 'steps' | 'days'>
> & {
  element: HTMLElement
  readout: Readout
}

const TOKENS = ['--soft', '--line', '--accent', '--accent-ground']

function chartOptions({
  element,
  series,
  format,
  height,
  steps,
  days,
  readout,
}: ChartOptionsInput): uPlot.Options {
  const [ink = '', line = '', accent = '', ground = ''] = TOKENS.map((token) =>
    resolveColor(element, token),
  )
  const isolated_points = findIsolatedPoints(series.values)
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    // The readout draws the dot, because a step's dot is at the pointer and not at a point.
    cursor: { y: false, points: { show: false } },
    hooks: { setCursor: [readout.show] },
    padding: [8, 8, 0, 0],
    scales: {
      ...(days && { x: { range: (_plot, first, last) => [first - DAY_S / 2, last + DAY_S / 2] } }),
      y: { range: (_plot, low, high) => [Math.min(0, low), roundUp(high)] },
    },
    axes: chartAxes({ ink, line, format, days }),
    series: [
      {},
      {
        label: series.name,
        // The outline of a bar would draw a dash for a day without any.
        width: days ? 0 : 1.75,
        // A point without neighbors has no line segment and would be invisible.
        points: { show: true, size: 5, width: 0, fill: accent, filter: () => isolated_points },
        stroke: accent,
        fill: days ? accent : ground,
        ...pathsOf(steps, days),
      },
    ],
  }
}

/** A line unless the values are steps or days. */
function pathsOf(steps: boolean, days: boolean): Pick<uPlot.Series, 'paths'> {
  const { stepped, bars } = uPlot.paths
  if (steps && stepped !== undefined) return { paths: stepped({ align: 1 }) }
  if (days && bars !== undefined) return { paths: bars({ size: [0.6, 40], radius: 0.15 }) }
  return {}
}

type Readout = { show(plot: uPlot): void; remove(): void }

const readout_format = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'short' })
/** In the reader's time zone, a UTC day would have the name of the day before. */
const utc_day_format = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })

/** A dot at the pointer, and its time and value in a box that stays inside the chart. */
function makeReadout(
  parent: HTMLElement,
  format: (value: number) => string,
  { steps, days }: Required<Pick<Props, 'steps' | 'days'>>,
): Readout {
  const element = document.createElement('div')
  element.className =
    'num pointer-events-none absolute top-0 z-10 rounded-md border border-line bg-sheet px-2 py-1 text-sm whitespace-nowrap shadow-sm'
  element.hidden = true
  const dot = document.createElement('div')
  dot.className =
    'pointer-events-none absolute z-10 size-2.5 -translate-x-1/2 -translate-y-1/2 rounded-full border-2 border-sheet bg-accent'
  dot.hidden = true
  parent.append(element, dot)
  const show = (plot: uPlot) => {
    const [times, values] = plot.data
    const pointed = plot.posToVal(plot.cursor.left ?? 0, 'x')
    const nearest = plot.cursor.idx ?? null
    // A step holds its value until the next one, so the nearest point may be too late.
    const at = steps && nearest !== null ? lastBefore(times, pointed) : nearest
    const value = at === null ? null : (values?.[at] ?? null)
    element.hidden = at === null || value === null
    dot.hidden = element.hidden
    if (at === null || value === null) return
    const time = steps ? pointed : (times[at] ?? 0)
    const when = (days ? utc_day_format : readout_format).format(new Date(time * 1_000))
    element.textContent = `${format(value)} · ${when}`
    const pointer = (plot.cursor.left ?? 0) + plot.bbox.left / devicePixelRatio
    const left = Math.min(pointer + 12, parent.clientWidth - element.offsetWidth)
    element.style.left = `${Math.max(0, left)}px`
    const offset = plot.bbox.left / devicePixelRatio
    dot.style.left = `${plot.valToPos(time, 'x') + offset}px`
    dot.style.top = `${plot.valToPos(value, 'y') + plot.bbox.top / devicePixelRatio}px`
  }
  const remove = () => {
    element.remove()
    dot.remove()
  }
  return { show, remove }
}

function lastBefore(times: ArrayLike<number>, time: number): number {
  let at = 0
  while (at + 1 < times.length && (times[at + 1] ?? 0) <= time) at += 1
  return at
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
const utc_day_label = new Intl.DateTimeFormat('en-US', {
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
})
const DAY_S = 24 * 60 * 60

/** Labels days if the axis spans a day or more, else times of day. Repeated labels are left out. */
function timeFormatter(times: readonly number[], days: boolean): (time: number) => string {
  const span_s = (times.at(-1) ?? 0) - (times[0] ?? 0)
  const local_format = span_s >= DAY_S ? day_format : clock_format
  const format = days ? utc_day_label : local_format
  let last = ''
  return (time) => {
    const text = format.format(new Date(time * 1_000))
    if (text === last) return ''
    last = text
    return text
  }
}

type ChartAxesInput = {
  ink: string
  line: string
  format(value: number): string
  days: boolean
}

function chartAxes({ ink, line, format, days }: ChartAxesInput): uPlot.Axis[] {
  const axis = { stroke: ink, font: '11px system-ui, sans-serif', ticks: { show: false } }
  return [
    {
      ...axis,
      grid: { show: false },
      space: 90,
      size: 30,
      // With the default of 5, the first date touches the lowest amount.
      gap: 10,
      values: (_plot, times) => times.map(timeFormatter(times, days)),
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
