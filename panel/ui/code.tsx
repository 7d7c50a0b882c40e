import { CopyButton } from './copy.tsx'

/** A scrollable code block with a copy button. */
export function Code({ label, text }: { label: string; text: string }) {
  return (
    <figure className="min-w-0">
      <figcaption className="flex items-center justify-between text-sm font-medium text-soft">
        {label}
        <CopyButton text={text} label={`Copy: ${label}`} />
      </figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must scroll it.
        tabIndex={0}
        className="max-h-80 overflow-auto rounded-lg border border-line bg-ground p-3 font-mono text-sm break-all whitespace-pre-wrap"
      >
        {text}
      </pre>
    </figure>
  )
}
