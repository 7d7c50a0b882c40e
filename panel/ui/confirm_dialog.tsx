import { type ReactNode, useState } from 'react'
import type { FlorinError } from '#client/client.ts'
import { Button } from './button.tsx'
import { Dialog, DialogActions } from './dialog.tsx'
import { ProblemNote } from './problem_note.tsx'

type Props = {
  open: boolean
  onOpenChange(open: boolean): void
  title: string
  /** The consequences: what happens, what stays, and what cannot be undone. */
  children: ReactNode
  /** Verb and object: "Revoke API key". */
  confirm_label: string
  /** Replaces "Cancel" when the action itself cancels something. */
  dismiss_label?: string
  danger?: boolean
  busy: boolean
  problem: FlorinError | null
  onConfirm(): void
}

/** Asks before an action that takes away money or access. */
export function ConfirmDialog(props: Props) {
  const { open, onOpenChange, title, children, busy, problem, onConfirm } = props
  const { confirm_label, dismiss_label = 'Cancel', danger = false } = props
  // The error of an earlier try says nothing about the question that is asked again.
  const [dismissed, setDismissed] = useState<FlorinError | null>(null)
  const change = (is_open: boolean) => {
    if (!is_open) setDismissed(problem)
    onOpenChange(is_open)
  }
  return (
    <Dialog open={open} onOpenChange={change} title={title}>
      <div className="space-y-3 text-soft">{children}</div>
      <ProblemNote problem={problem === dismissed ? null : problem} />
      <DialogActions>
        <Button onClick={() => change(false)}>{dismiss_label}</Button>
        <Button kind={danger ? 'danger' : 'main'} busy={busy} onClick={onConfirm}>
          {confirm_label}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
