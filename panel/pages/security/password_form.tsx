import { type FormEvent, useState } from 'react'
import type { FlorinError } from '#client/client.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { FormActions } from '#panel/ui/dialog.tsx'
import { Field } from '#panel/ui/field.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'

/** Proof that the owner is the person in front of the screen. */
export type OwnerProof = { password: string; totp_code?: string }

type Props = {
  /** Sends the call; its failure is shown in the form. */
  submit(owner: OwnerProof): Promise<unknown>
  /** The button's text. */
  action: string
  onCancel(): void
}

/** Asks for the password and, with two-factor authentication, a code. */
export function PasswordForm({ submit, action, onCancel }: Props) {
  const account = useOperationQuery('get_account', {})
  const [password, setPassword] = useState('')
  const [totp_code, setCode] = useState('')
  const [is_busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<FlorinError | null>(null)
  const [is_code_required, setCodeRequired] = useState(false)
  const has_code = account.data?.two_factor_enabled === true || is_code_required
  const send = async (form: FormEvent) => {
    form.preventDefault()
    setBusy(true)
    setProblem(null)
    try {
      await submit({ password, ...(has_code && { totp_code: totp_code.trim() }) })
    } catch (cause) {
      const refusal = cause as FlorinError
      if (refusal.code === 'totp_required') setCodeRequired(true)
      else setProblem(refusal)
      setBusy(false)
    }
  }
  return (
    <form onSubmit={(form) => void send(form)} className="space-y-4">
      <Field
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(change) => setPassword(change.target.value)}
        error={fieldError(problem, 'current_password')}
      />
      {has_code && (
        <Field
          label="Authentication code"
          hint="From your authenticator app, or a recovery code."
          autoComplete="one-time-code"
          required
          value={totp_code}
          onChange={(change) => setCode(change.target.value)}
          error={fieldError(problem, 'totp_code')}
        />
      )}
      <ProblemNote problem={problem} fields={['current_password', 'totp_code']} />
      <FormActions label={action} busy={is_busy} onCancel={onCancel} />
    </form>
  )
}
