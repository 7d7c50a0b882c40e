import { type FormEvent, useState } from 'react'
import type { FlorinError } from '#client/client.ts'
import type { Account } from '#contract/accounts.ts'
import { useOperationMutation } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { Field } from '#panel/ui/field.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { Section } from '#panel/ui/section.tsx'
import { toast } from '#panel/ui/toast.tsx'

/** The service's sentence is for someone who signs up. */
const emailError = (problem: FlorinError | null) =>
  problem?.code === 'email_taken' ? 'Another account has this email.' : fieldError(problem, 'email')

export function ChangeEmail({ account }: { account: Account }) {
  const [email, setEmail] = useState('')
  const [current_password, setCurrent] = useState('')
  const update_account = useOperationMutation('update_account', {
    onSuccess: () => {
      setEmail('')
      setCurrent('')
      toast('Email changed.')
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    update_account.mutate({ email, current_password })
  }
  return (
    <Section title="Change email">
      <form onSubmit={submit} className="space-y-4">
        <Field
          label="New email"
          type="email"
          autoComplete="email"
          required
          placeholder={account.email}
          value={email}
          onChange={(change) => setEmail(change.target.value)}
          error={emailError(update_account.error)}
        />
        <Field
          label="Confirm with your password"
          type="password"
          autoComplete="current-password"
          required
          value={current_password}
          onChange={(change) => setCurrent(change.target.value)}
          error={fieldError(update_account.error, 'current_password')}
        />
        <ProblemNote problem={update_account.error} fields={['email', 'current_password']} />
        <Button type="submit" busy={update_account.isPending}>
          Change email
        </Button>
      </form>
    </Section>
  )
}
