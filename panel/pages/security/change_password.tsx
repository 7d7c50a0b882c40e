import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { useOperationMutation } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { Field } from '#panel/ui/field.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { Section } from '#panel/ui/section.tsx'
import { toast } from '#panel/ui/toast.tsx'

export function ChangePassword() {
  const [current_password, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const update_account = useOperationMutation('update_account', {
    onSuccess: () => {
      setCurrent('')
      setPassword('')
      toast('Password changed. You’re signed out everywhere else.')
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    update_account.mutate({ password, current_password })
  }
  return (
    <Section title="Change password">
      <form onSubmit={submit} className="space-y-4">
        <Field
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          value={current_password}
          onChange={(change) => setCurrent(change.target.value)}
          error={fieldError(update_account.error, 'current_password')}
        />
        <Field
          label="New password"
          type="password"
          autoComplete="new-password"
          required
          hint="At least 8 characters. Signs you out everywhere else."
          value={password}
          onChange={(change) => setPassword(change.target.value)}
          error={fieldError(update_account.error, 'password')}
        />
        <ProblemNote problem={update_account.error} fields={['current_password', 'password']} />
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <Button type="submit" busy={update_account.isPending}>
            Change password
          </Button>
          <Link href="/forgot_password" className="text-sm font-medium text-accent underline">
            Forgot password?
          </Link>
        </div>
      </form>
    </Section>
  )
}
