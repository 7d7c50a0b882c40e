import type { ReactNode } from 'react'
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
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={title}>
      <div className="space-y-3 text-soft">{children}</div>
      <ProblemNote problem={problem} />
      <DialogActions>
        <Button onClick={() => onOpenChange(false)}>{dismiss_label}</Button>
        <Button kind={danger ? 'danger' : 'main'} busy={busy} onClick={onConfirm}>
          {confirm_label}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
