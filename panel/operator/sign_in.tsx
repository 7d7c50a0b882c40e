import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { FlorinError } from '#client/client.ts'
import { AuthLayout } from '#panel/shell/auth_layout.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Field } from '#panel/ui/field.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { callOperator, saveToken } from './operator_api.ts'

/** Exchanges an operator token and a TOTP code for a session with a limited lifetime. */
async function createSession(token: string, totp_code: string): Promise<string> {
  const session = { token, body: { totp_code } }
  return (await callOperator<{ bearer: string }>('POST', '/sessions', session)).bearer
}

/** Verifies the token with a request before it is saved. */
function useSignIn() {
  const [needs_code, setNeedsCode] = useState(false)
  const [is_busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<FlorinError | null>(null)
  const client = useQueryClient()
  const signIn = async (token: string, code: string) => {
    setBusy(true)
    try {
      const bearer = needs_code ? await createSession(token, code) : token
      const found = await callOperator('GET', '/kill_switches', { token: bearer })
      client.setQueryData(['/kill_switches'], found)
      saveToken(bearer)
    } catch (cause) {
      const error = cause as FlorinError
      const is_code_required = !needs_code && error.code === 'totp_required'
      if (is_code_required) setNeedsCode(true)
      setProblem(is_code_required ? null : error)
    }
    setBusy(false)
  }
  return { needs_code, is_busy, problem, signIn }
}

export function OperatorSignIn() {
  const [token, setToken] = useState('')
  const [code, setCode] = useState('')
  const { needs_code, is_busy, problem, signIn } = useSignIn()
  const submit = (form: FormEvent) => {
    form.preventDefault()
    void signIn(token.trim(), code)
  }
  return (
    <AuthLayout
      title="Operator console"
      description="Sign in with an operator token."
      below={
        <>
          Not an operator?{' '}
          <a href="/" className="font-medium text-accent underline underline-offset-2">
            Go to your account
          </a>
        </>
      }
    >
      <form onSubmit={submit} className="space-y-4">
        <Field
          label="Operator token"
          type="password"
          autoComplete="off"
          required
          value={token}
          onChange={(change) => setToken(change.target.value)}
          hint="In the sandbox, it was printed at first start."
        />
        {needs_code && (
          <Field
            label="Authentication code"
            inputMode="numeric"
            autoComplete="one-time-code"
            autoFocus
            required
            value={code}
            onChange={(change) => setCode(change.target.value)}
          />
        )}
        <ProblemNote problem={problem} />
        <Button type="submit" kind="main" size="large" className="w-full" busy={is_busy}>
          Sign in
        </Button>
      </form>
    </AuthLayout>
  )
}
