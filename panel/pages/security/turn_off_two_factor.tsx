import { type FormEvent, useState } from 'react'
import { useOperationMutation } from '#panel/queries.ts'
import { Dialog, FormActions } from '#panel/ui/dialog.tsx'
import { Field } from '#panel/ui/field.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { toast } from '#panel/ui/toast.tsx'

export function TurnOff({ onClose }: { onClose(): void }) {
  const [password, setPassword] = useState('')
  const [totp_code, setCode] = useState('')
  const disable_2fa = useOperationMutation('disable_2fa', {
    onSuccess: () => {
      toast('Two-factor authentication is off.')
      onClose()
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    disable_2fa.mutate({ password, totp_code: totp_code.trim() })
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Turn off two-factor authentication"
      description="You’ll sign in with only your password."
    >
      <form onSubmit={submit} className="space-y-4">
        <Field
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(change) => setPassword(change.target.value)}
          error={fieldError(disable_2fa.error, 'current_password')}
        />
        <Field
          label="Authentication code"
          hint="From your authenticator app, or a recovery code."
          autoComplete="one-time-code"
          required
          value={totp_code}
          onChange={(change) => setCode(change.target.value)}
          error={fieldError(disable_2fa.error, 'totp_code')}
        />
        <ProblemNote problem={disable_2fa.error} fields={['current_password', 'totp_code']} />
        <FormActions
          label="Turn off"
          kind="danger"
          busy={disable_2fa.isPending}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}
