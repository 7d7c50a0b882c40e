import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { useHistoryState } from 'wouter/use-browser-location'
import { useOperationMutation } from '#panel/queries.ts'
import { useIsSandbox } from '#panel/sandbox.ts'
import { bearer } from '#panel/session.ts'
import { AuthLayout } from '#panel/shell/auth_layout.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Field } from '#panel/ui/field.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'

/** Sends a reset link. The page never says whether an account with the email exists. */
export function ForgotPassword() {
  const typed = useHistoryState<{ email?: string } | null>()?.email ?? ''
  const [email, setEmail] = useState(typed)
  const request = useOperationMutation('request_password_reset')
  const is_sandbox = useIsSandbox({ enabled: request.isSuccess })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    request.mutate({ email })
  }
  return (
    <AuthLayout
      title={request.isSuccess ? 'Check your email' : 'Reset your password'}
      description={
        request.isSuccess ? (
          <>
            If an account with <span className="font-medium wrap-anywhere text-ink">{email}</span>{' '}
            exists, we sent a link. It works for 30 minutes.
          </>
        ) : (
          'We’ll email you a link to choose a new password.'
        )
      }
      below={
        <Link href="/sign_in" className={link_class}>
          Back to sign in
        </Link>
      }
    >
      {request.isSuccess ? (
        <>
          {is_sandbox && <SandboxNote />}
          <Button className="w-full" onClick={request.reset}>
            Use another email
          </Button>
        </>
      ) : (
        <form onSubmit={submit} className="space-y-4">
          <Field
            label="Email"
            type="email"
            name="email"
            autoComplete="username"
            required
            value={email}
            onChange={(change) => setEmail(change.target.value)}
            error={fieldError(request.error, 'email')}
          />
          <ProblemNote problem={request.error} fields={['email']} />
          <Button
            type="submit"
            kind="main"
            size="large"
            className="w-full"
            busy={request.isPending}
          >
            Send reset link
          </Button>
        </form>
      )}
    </AuthLayout>
  )
}

const link_class = 'font-medium text-accent underline underline-offset-2'

/** The inbox needs a session or an API key, or anyone could reset anyone's password. */
function SandboxNote() {
  return (
    <p className="mb-5 rounded-lg bg-hover px-3 py-2.5 text-sm text-soft">
      {bearer() === null ? (
        <>
          In the sandbox, the email is in your{' '}
          <a href="/docs/sandbox" className={link_class}>
            sandbox inbox
          </a>
          . Open it where you’re still signed in, or with an API key:
          <code className="mt-1 block font-mono text-xs">florin sandbox inbox --json</code>
        </>
      ) : (
        <>
          In the sandbox, the email is in your{' '}
          <Link href="/inbox" className={link_class}>
            sandbox inbox
          </Link>
          .
        </>
      )}
    </p>
  )
}
