import { useState } from 'react'
import { Button } from './button.tsx'
import { Check, Copy } from './icons.ts'
import { toast } from './toast.tsx'

type Props = { text: string; label: string; is_label_visible?: boolean; className?: string }

/** Copies text to the clipboard. `label` names the text: "Copy address". */
export function CopyButton({ text, label, is_label_visible = false, className }: Props) {
  const [is_done, setDone] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setDone(true)
      setTimeout(() => setDone(false), 2_000)
    } catch {
      toast('Your browser blocked copying. Select the text and copy it yourself.', 'bad')
    }
  }
  return (
    <Button
      kind={is_label_visible ? 'plain' : 'quiet'}
      size={is_label_visible ? 'normal' : 'icon'}
      aria-label={label}
      className={className}
      onClick={() => void copy()}
    >
      {is_done ? <Check className="text-good" /> : <Copy />}
      {is_label_visible && (is_done ? 'Copied' : label)}
      <span className="sr-only" role="status">
        {is_done ? 'Copied' : ''}
      </span>
    </Button>
  )
}

/**
 * A monospaced value with a copy button. Negative margins keep the row as high as rows without a
 * button, and align its right edge with theirs.
 */
export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <span className="flex min-w-0 items-center gap-0.5">
      <code className="min-w-0 font-mono text-xs text-balance break-all">{text}</code>
      <CopyButton text={text} label={label} className="-my-2 -mr-2.5" />
    </span>
  )
}
