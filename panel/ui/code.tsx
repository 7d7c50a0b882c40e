import { CopyButton } from './copy.tsx'

/** A piece of text for machines: monospaced, scrolled inside itself, with a button to copy it. */
export function Code({ label, text }: { label: string; text: string }) {
  return (
    <figure className="min-w-0">
      <figcaption className="flex items-center justify-between text-sm font-medium text-soft">
        {label}
        <CopyButton text={text} label={`Copy: ${label}`} />
      </figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
        tabIndex={0}
        className="max-h-80 overflow-auto rounded-lg border border-line bg-ground p-3 font-mono text-sm break-all whitespace-pre-wrap"
      >
        {text}
      </pre>
    </figure>
  )
}
