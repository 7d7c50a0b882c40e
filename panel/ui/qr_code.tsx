import { create } from 'qrcode'
import { useMemo } from 'react'
import { classes } from './classes.ts'

const MARGIN = 2

/** Black on white in both themes, because many cameras cannot read inverted codes. */
export function QrCode({ text, label, className }: Props) {
  const { path, size } = useMemo(() => drawQrCode(text), [text])
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className={classes('rounded-lg bg-white text-[#000]', className)}
    >
      <path d={path} fill="currentColor" />
    </svg>
  )
}

type Props = { text: string; label: string; className?: string }

function drawQrCode(text: string): { path: string; size: number } {
  const { modules } = create(text, { errorCorrectionLevel: 'M' })
  const cells = Array.from(modules.data, (is_dark, at) => (is_dark ? at : -1))
  const path = cells
    .filter((at) => at >= 0)
    .map(
      (at) => `M${(at % modules.size) + MARGIN} ${Math.floor(at / modules.size) + MARGIN}h1v1h-1z`,
    )
    .join('')
  return { path, size: modules.size + 2 * MARGIN }
}
