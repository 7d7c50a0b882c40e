const WIDTH = 120
const HEIGHT = 32

/** A small chart without axes; its label has the figures. */
export function Sparkline({ label, values }: { label: string; values: readonly number[] }) {
  const highest = Math.max(1e-6, ...values)
  const step = WIDTH / Math.max(1, values.length - 1)
  const points = values.map((value, at) => {
    const y = HEIGHT - 1 - (value / highest) * (HEIGHT - 2)
    return `${(at * step).toFixed(1)},${y.toFixed(1)}`
  })
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-10 w-full"
    >
      <polygon
        points={`0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`}
        className="fill-accent-ground"
      />
      <polyline
        points={points.join(' ')}
        fill="none"
        vectorEffect="non-scaling-stroke"
        className="stroke-accent"
        strokeWidth={1.75}
      />
    </svg>
  )
}
