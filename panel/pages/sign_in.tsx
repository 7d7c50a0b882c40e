import { type FormEvent, type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { FlorinError } from '#client/client.ts'
import { useOperationMutation } from '#panel/queries.ts'
import { saveBearer } from '#panel/session.ts'
import { AuthLayout } from '#panel/shell/auth_layout.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Field } from '#panel/ui/field.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'

/** Asks for the authentication code in a second step, if the service requires one. */
export function SignIn() {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const sign_in = useOperationMutation('sign_in', {
    onSuccess: (session) => saveBearer(session.bearer ?? ''),
  })
  const is_code_required = ['totp_required', 'totp_invalid'].includes(sign_in.error?.code ?? '')
  const [is_second_step, setSecondStep] = useState(false)
  if (is_code_required && !is_second_step) setSecondStep(true)
  const submit = (form: FormEvent) => {
    form.preventDefault()
    sign_in.mutate({ email, password, ...(is_second_step && { totp_code: code.trim() }) })
  }
  const startOver = () => {
    setSecondStep(false)
    sign_in.reset()
  }
  const problem = sign_in.error?.code === 'totp_required' ? null : sign_in.error
  return (
    <AuthLayout
      title={is_second_step ? 'Two-factor authentication' : 'Sign in'}
      description={
        is_second_step
          ? 'Enter the 6-digit code from your authenticator app, or a recovery code.'
          : 'Welcome back to Florin.'
      }
      below={
        <>
          New here?{' '}
          <Link href="/sign_up" className="font-medium text-accent underline underline-offset-2">
            Create account
          </Link>
        </>
      }
    >
      <form onSubmit={submit} className="space-y-4">
        {is_second_step ? (
          <CodeField value={code} onChange={setCode} error={fieldError(problem, 'totp_code')} />
        ) : (
          <Credentials
            {...{ email, setEmail, password, setPassword }}
            autoComplete="current-password"
            problem={problem}
            below_password={<ForgotLink email={email} />}
          />
        )}
        <ProblemNote
          problem={problem}
          fields={is_second_step ? ['totp_code'] : ['email', 'password']}
        />
        <Button type="submit" kind="main" size="large" className="w-full" busy={sign_in.isPending}>
          {is_second_step ? 'Continue' : 'Sign in'}
        </Button>
        {is_second_step && (
          <Button kind="quiet" className="w-full" onClick={startOver}>
            Use another account
          </Button>
        )}
      </form>
    </AuthLayout>
  )
}

/** Carries the email that was typed to the next page, without putting it into the URL. */
function ForgotLink({ email }: { email: string }) {
  return (
    <p className="-mt-2">
      <Link
        href="/forgot_password"
        state={{ email }}
        className="inline-block py-1 text-sm font-medium text-accent underline underline-offset-2"
      >
        Forgot password?
      </Link>
    </p>
  )
}

type CodeFieldProps = {
  value: string
  onChange(value: string): void
  hint?: string
  error: string | undefined
}

export function CodeField({ value, onChange, hint, error }: CodeFieldProps) {
  return (
    <Field
      label="Authentication code"
      hint={hint}
      error={error}
      name="totp_code"
      autoComplete="one-time-code"
      inputMode="text"
      autoFocus
      required
      value={value}
      onChange={(change) => onChange(change.target.value)}
    />
  )
}

type CredentialsProps = {
  email: string
  setEmail(email: string): void
  password: string
  setPassword(password: string): void
  autoComplete: 'current-password' | 'new-password'
  problem: FlorinError | null
  below_password?: ReactNode
}

export function Credentials(props: CredentialsProps) {
  const { email, setEmail, password, setPassword, autoComplete, problem, below_password } = props
  return (
    <>
      <Field
        label="Email"
        type="email"
        name="email"
        autoComplete="username"
        required
        value={email}
        onChange={(change) => setEmail(change.target.value)}
        error={fieldError(problem, 'email')}
      />
      <Field
        label="Password"
        type="password"
        name="password"
        autoComplete={autoComplete}
        required
        value={password}
        onChange={(change) => setPassword(change.target.value)}
        error={fieldError(problem, 'password')}
        {...(autoComplete === 'new-password' && { hint: 'At least 8 characters.' })}
      />
      {below_password}
    </>
  )
}
