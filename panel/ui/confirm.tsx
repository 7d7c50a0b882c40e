import type { ReactNode } from 'react'
import type { FlorinError } from '#client/client.ts'
import { Button } from './button.tsx'
import { Dialog, DialogActions } from './dialog.tsx'
import { ProblemNote } from './problem_note.tsx'

type Props = {
  open: boolean
  onOpenChange(open: boolean): void
  title: string
  /** What happens, what is kept, and what cannot be undone. */
  children: ReactNode
  /** What the button does, as a verb: "Cancel this card". */
  verb: string
  /** Replaces "Cancel" where the question itself is about canceling something. */
  dismiss_label?: string
  danger?: boolean
  busy: boolean
  problem: FlorinError | null
  onConfirm(): void
}

/** A question before something that takes money or access away. */
export function Confirm(props: Props) {
  const {
    children,
    verb,
    dismiss_label = 'Cancel',
    danger = false,
    busy,
    problem,
    onConfirm,
  } = props
  const { open, onOpenChange, title } = props
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={title}>
      <div className="space-y-3 text-soft">{children}</div>
      <ProblemNote problem={problem} />
      <DialogActions>
        <Button onClick={() => onOpenChange(false)}>{dismiss_label}</Button>
        <Button kind={danger ? 'danger' : 'main'} busy={busy} onClick={onConfirm}>
          {verb}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
