import { type FormEvent, useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { useOperationMutation } from '#panel/queries.ts'
import { clearSession } from '#panel/session.ts'
import { AuthLayout } from '#panel/shell/auth_layout.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Field } from '#panel/ui/field.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { CodeField } from './sign_in.tsx'

const below = (
  <Link href="/sign_in" className="font-medium text-accent underline underline-offset-2">
    Back to sign in
  </Link>
)

/** The page of the emailed link, even for someone who is signed in. */
export function ResetPassword() {
  const token = new URLSearchParams(useSearch()).get('token') ?? ''
  const [is_refused, setRefused] = useState(false)
  if (token === '') {
    return <UselessLink reason="It’s incomplete. Open the link in the email again." />
  }
  if (is_refused) {
    return <UselessLink reason="It expired, was already used, or was replaced by a newer one." />
  }
  return (
    <AuthLayout
      title="Choose a new password"
      description="You’ll be signed out everywhere."
      below={below}
    >
      <NewPasswordForm token={token} onRefused={() => setRefused(true)} />
    </AuthLayout>
  )
}

/** Another password can't help here. */
function UselessLink({ reason }: { reason: string }) {
  return (
    <AuthLayout title="This link doesn’t work" description={reason} below={below}>
      <Button asChild kind="main" size="large" className="w-full">
        <Link href="/forgot_password">Request a new link</Link>
      </Button>
    </AuthLayout>
  )
}

type FormProps = { token: string; onRefused(): void }

function NewPasswordForm({ token, onRefused }: FormProps) {
  const [, navigate] = useLocation()
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const reset_password = useOperationMutation('reset_password', {
    onSuccess: () => {
      clearSession()
      toast('Password changed. Sign in with your new password.')
      navigate('/sign_in', { replace: true })
    },
    onError: (problem) => {
      if (problem.code === 'reset_token_invalid') onRefused()
    },
  })
  const [is_code_shown, setCodeShown] = useState(false)
  const { error } = reset_password
  if (error?.code === 'totp_required' && !is_code_shown) setCodeShown(true)
  const submit = (form: FormEvent) => {
    form.preventDefault()
    reset_password.mutate({ token, password, ...(is_code_shown && { totp_code: code.trim() }) })
  }
  return (
    <form onSubmit={submit} className="space-y-4">
      <Field
        label="New password"
        type="password"
        name="password"
        autoComplete="new-password"
        required
        hint="At least 8 characters."
        value={password}
        onChange={(change) => setPassword(change.target.value)}
        error={fieldError(error, 'password')}
      />
      {is_code_shown && (
        <CodeField
          value={code}
          onChange={setCode}
          hint="From your authenticator app, or a recovery code."
          error={fieldError(error, 'totp_code')}
        />
      )}
      <ProblemNote
        problem={error?.code === 'totp_required' ? null : error}
        fields={['password', 'totp_code']}
      />
      <Button
        type="submit"
        kind="main"
        size="large"
        className="w-full"
        busy={reset_password.isPending}
      >
        Change password
      </Button>
    </form>
  )
}
