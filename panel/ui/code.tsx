import { classes } from './classes.ts'
import { CopyButton } from './copy.tsx'

type Props = {
  label: string
  text: string
  /** Breaks lines anywhere, for text without lines of its own, like hex. */
  wraps?: boolean
}

/** A scrollable code block with a copy button. */
export function Code({ label, text, wraps = false }: Props) {
  return (
    <figure className="min-w-0">
      <figcaption className="flex items-center justify-between text-sm font-medium text-soft">
        {label}
        <CopyButton text={text} label={`Copy: ${label}`} />
      </figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must scroll it.
        tabIndex={0}
        className={classes(
          'max-h-80 overflow-auto rounded-lg border border-line bg-ground p-3 font-mono text-sm',
          wraps ? 'break-all whitespace-pre-wrap' : 'whitespace-pre',
        )}
      >
        {text}
      </pre>
    </figure>
  )
}
