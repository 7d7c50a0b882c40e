import { type FormEvent, useState } from 'react'
import { useCodeRequired, withoutCodeDemand } from '#panel/pages/security/code_required.ts'
import { useOperationMutation } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { Dialog, DialogActions, FormActions } from '#panel/ui/dialog.tsx'
import { Field } from '#panel/ui/field.tsx'
import { OneTimeSecret } from '#panel/ui/one_time_secret.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'

export function CreateKey({ onClose }: { onClose(): void }) {
  const [name, setName] = useState('')
  const [code, setCode] = useState('')
  const create_api_key = useOperationMutation('create_api_key')
  const has_code = useCodeRequired(create_api_key.error)
  const problem = withoutCodeDemand(create_api_key.error)
  const submit = (form: FormEvent) => {
    form.preventDefault()
    create_api_key.mutate({
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(has_code && { totp_code: code.trim() }),
    })
  }
  if (create_api_key.data !== undefined) {
    return <NewKey text={create_api_key.data.key ?? ''} onClose={onClose} />
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Create API key"
      description="This key has full access to your account until you revoke it."
    >
      <form onSubmit={submit} className="space-y-4">
        <Field
          label="Name (optional)"
          hint="For example, the app that uses it."
          maxLength={100}
          value={name}
          onChange={(change) => setName(change.target.value)}
          error={fieldError(problem, 'name')}
        />
        {has_code && (
          <CodeField code={code} onChange={setCode} error={fieldError(problem, 'totp_code')} />
        )}
        <ProblemNote problem={problem} fields={['name', 'totp_code']} />
        <FormActions label="Create API key" busy={create_api_key.isPending} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

function NewKey({ text, onClose }: { text: string; onClose(): void }) {
  return (
    <Dialog open is_pinned onOpenChange={onClose} title="Your new API key">
      <OneTimeSecret label="API key" text={text}>
        Send it with every request: “Authorization: Bearer …”.
      </OneTimeSecret>
      <DialogActions>
        <Button kind="main" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  )
}

type CodeFieldProps = { code: string; onChange(code: string): void; error: string | undefined }

function CodeField({ code, onChange, error }: CodeFieldProps) {
  return (
    <Field
      label="Authentication code"
      hint="The 6-digit code from your authenticator app."
      autoComplete="one-time-code"
      inputMode="numeric"
      required
      value={code}
      onChange={(change) => onChange(change.target.value)}
      error={error}
    />
  )
}
