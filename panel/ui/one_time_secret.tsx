import { CopyButton } from './copy.tsx'
import { TriangleAlert } from './icons.ts'

type Props = { label: string; text: string; children: string }

/** A secret that cannot be shown again. The children explain its use. */
export function OneTimeSecret({ label, text, children }: Props) {
  return (
    <div className="space-y-3">
      <p className="flex gap-2.5 rounded-lg bg-warn-ground px-3 py-2.5 text-warn">
        <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
        This is shown only once. Copy it now and store it somewhere safe.
      </p>
      <p className="text-soft">{children}</p>
      <output
        aria-label={label}
        className="block rounded-lg border border-line bg-ground p-3 font-mono text-sm break-all"
      >
        {text}
      </output>
      <CopyButton
        text={text}
        label={`Copy ${label.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())}`}
        is_label_visible
      />
    </div>
  )
}
