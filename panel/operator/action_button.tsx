import { type ReactNode, useState } from 'react'
import { Button } from '#panel/ui/button.tsx'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { useOperatorMutation } from './operator_api.ts'

type Props = {
  /** The text of the button and of the dialog's confirm button. */
  label: string
  /** Tells screen readers which row a button belongs to. */
  aria_label?: string
  /** The question in the dialog: "Suspend account?" */
  title: string
  path: string
  invalidates: readonly string[]
  success_message: string
  dismiss_label?: string
  danger?: boolean
  /** The consequences, shown in the dialog. */
  children: ReactNode
}

/** Asks for confirmation first: operator actions affect a customer's money or access. */
export function ActionButton(props: Props) {
  const { label, aria_label = label, ...question } = props
  const [is_open, setOpen] = useState(false)
  return (
    <>
      <Button aria-label={aria_label} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {is_open && <Question {...question} label={label} onClose={() => setOpen(false)} />}
    </>
  )
}

type QuestionProps = Omit<Props, 'aria_label'> & { onClose(): void }

function Question(props: QuestionProps) {
  const { label, path, invalidates, success_message, children, onClose, ...dialog } = props
  const mutation = useOperatorMutation<void>({
    method: 'POST',
    path: () => path,
    invalidates,
    onSuccess: () => {
      onClose()
      toast(success_message)
    },
  })
  return (
    <ConfirmDialog
      {...dialog}
      open
      onOpenChange={onClose}
      confirm_label={label}
      busy={mutation.isPending}
      problem={mutation.error}
      onConfirm={() => mutation.mutate()}
    >
      {children}
    </ConfirmDialog>
  )
}
