import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { FlorinError } from '#client/client.ts'
import { Door } from '#panel/shell/door.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Field } from '#panel/ui/field.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { keepToken, operatorCall } from './operator_api.ts'

/** The token is tried before it is kept: a wrong one never opens an empty console. */
export function OperatorSignIn() {
  const [token, setToken] = useState('')
  const [is_busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<FlorinError | null>(null)
  const client = useQueryClient()
  const submit = async (form: FormEvent) => {
    form.preventDefault()
    setBusy(true)
    try {
      const found = await operatorCall('GET', '/kill_switches', { token: token.trim() })
      client.setQueryData(['/kill_switches'], found)
      keepToken(token.trim())
    } catch (cause) {
      setProblem(cause as FlorinError)
    }
    setBusy(false)
  }
  return (
    <Door
      title="Operator"
      note="Sign in with an operator token."
      below={
        <>
          Looking for your cards?{' '}
          <a href="/" className="font-medium text-accent underline underline-offset-2">
            Go to the panel
          </a>
        </>
      }
    >
      <form onSubmit={(form) => void submit(form)} className="space-y-4">
        <Field
          label="Operator token"
          type="password"
          autoComplete="off"
          required
          value={token}
          onChange={(change) => setToken(change.target.value)}
          hint="In the sandbox it was printed at the first start."
        />
        <ProblemNote problem={problem} />
        <Button type="submit" kind="main" size="large" className="w-full" busy={is_busy}>
          Sign in
        </Button>
      </form>
    </Door>
  )
}
