import { type FormEvent, useEffect, useState } from 'react'
import { useOperationMutation } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { Copyable, CopyButton } from '#panel/ui/copy.tsx'
import { Dialog, DialogActions, FormActions } from '#panel/ui/dialog.tsx'
import { Field } from '#panel/ui/field.tsx'
import { fieldError, ProblemNote } from '#panel/ui/problem_note.tsx'
import { QrCode } from '#panel/ui/qr_code.tsx'
import { Skeleton } from '#panel/ui/states.tsx'

/** Shows the secret, verifies the first code, then shows the recovery codes. */
export function TurnOn({ onClose }: { onClose(): void }) {
  const enable_2fa = useOperationMutation('enable_2fa')
  const recovery_codes = enable_2fa.data?.recovery_codes ?? null
  if (recovery_codes !== null) return <RecoveryCodes codes={recovery_codes} onClose={onClose} />
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Turn on two-factor authentication"
      description="Scan the QR code with an authenticator app, then enter the code it shows."
    >
      <Secret />
      <CodeForm enable_2fa={enable_2fa} onClose={onClose} />
    </Dialog>
  )
}

function Secret() {
  const enable_2fa = useOperationMutation('enable_2fa')
  const { mutate } = enable_2fa
  useEffect(() => mutate({}), [mutate])
  const { secret, uri } = enable_2fa.data ?? {}
  if (enable_2fa.error !== null) return <ProblemNote problem={enable_2fa.error} />
  if (secret == null || uri == null) return <Skeleton className="mx-auto size-48" />
  return (
    <div className="space-y-3">
      <QrCode text={uri} label="QR code for the authenticator app" className="mx-auto size-48" />
      <p className="text-sm text-soft">Or enter this key in the app:</p>
      <Copyable text={secret} label="Copy key" />
    </div>
  )
}

type CodeFormProps = {
  enable_2fa: ReturnType<typeof useOperationMutation<'enable_2fa'>>
  onClose(): void
}

function CodeForm({ enable_2fa, onClose }: CodeFormProps) {
  const [code, setCode] = useState('')
  const submit = (form: FormEvent) => {
    form.preventDefault()
    enable_2fa.mutate({ totp_code: code.trim() })
  }
  return (
    <form onSubmit={submit} className="mt-4">
      <Field
        label="Authentication code"
        autoComplete="one-time-code"
        inputMode="numeric"
        required
        value={code}
        onChange={(change) => setCode(change.target.value)}
        error={fieldError(enable_2fa.error, 'totp_code')}
      />
      <ProblemNote problem={enable_2fa.error} fields={['totp_code']} />
      <FormActions label="Turn on" busy={enable_2fa.isPending} onCancel={onClose} />
    </form>
  )
}

function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose(): void }) {
  return (
    <Dialog
      open
      is_pinned
      onOpenChange={onClose}
      title="Save your recovery codes"
      description="Use a code to sign in if you lose your phone. Each works once. They’re shown only once."
    >
      <ul aria-label="Recovery codes" className="grid grid-cols-2 gap-2">
        {codes.map((code) => (
          <li
            key={code}
            className="rounded-lg bg-hover px-2 py-1.5 text-center font-mono text-sm break-all"
          >
            {code}
          </li>
        ))}
      </ul>
      <DialogActions>
        <CopyButton text={codes.join('\n')} label="Copy all" is_label_visible />
        <Button kind="main" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  )
}
