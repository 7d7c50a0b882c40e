import { classes } from './classes.ts'

type Props = {
  label: string
  value: number
  max: number
  text: string
  /** "accent" keeps the accent color when the meter is nearly full. */
  tone?: 'accent'
}

/** Usage of a limit; turns amber above 85%. */
export function Meter({ label, value, max, text, tone }: Props) {
  const share = max <= 0 ? 1 : Math.min(1, value / max)
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers style meter differently.
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={value}
      aria-valuetext={text}
      className="h-1.5 overflow-hidden rounded-full bg-line"
    >
      <div
        className={classes(
          'h-full rounded-full',
          share > 0.85 && tone === undefined ? 'bg-warn' : 'bg-accent',
        )}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  )
}
