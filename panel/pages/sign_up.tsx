import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { useOperationMutation } from '#panel/queries.ts'
import { saveBearer } from '#panel/session.ts'
import { AuthLayout } from '#panel/shell/auth_layout.tsx'
import { Button } from '#panel/ui/button.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { Credentials } from './sign_in.tsx'

export function SignUp() {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const create_account = useOperationMutation('create_account', {
    onSuccess: (made) => saveBearer(made.bearer ?? ''),
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    create_account.mutate({ email, password })
  }
  return (
    <AuthLayout
      title="Create account"
      description="Add USDT and issue a card in minutes. No documents needed."
      below={
        <>
          Already have an account?{' '}
          <Link href="/sign_in" className="font-medium text-accent underline underline-offset-2">
            Sign in
          </Link>
        </>
      }
    >
      <form onSubmit={submit} className="space-y-4">
        <Credentials
          {...{ email, setEmail, password, setPassword }}
          autoComplete="new-password"
          problem={create_account.error}
        />
        <ProblemNote problem={create_account.error} fields={['email', 'password']} />
        <Button
          type="submit"
          kind="main"
          size="large"
          className="w-full"
          busy={create_account.isPending}
        >
          Create account
        </Button>
      </form>
    </AuthLayout>
  )
}
