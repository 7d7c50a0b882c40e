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
  danger?: boolean
  busy: boolean
  problem: FlorinError | null
  onConfirm(): void
}

/** A question before something that takes money or access away. */
export function Confirm({ children, verb, danger = false, busy, problem, ...rest }: Props) {
  const { onConfirm, ...dialog } = rest
  return (
    <Dialog {...dialog}>
      <div className="space-y-3 text-soft">{children}</div>
      <ProblemNote problem={problem} />
      <DialogActions>
        <Button onClick={() => rest.onOpenChange(false)}>Keep it as it is</Button>
        <Button kind={danger ? 'danger' : 'main'} busy={busy} onClick={onConfirm}>
          {verb}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
