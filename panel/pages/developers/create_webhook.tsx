import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { useOperationMutation } from '#panel/queries.ts'
import { Dialog, FormActions } from '#panel/ui/dialog.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { SigningSecret } from './signing_secret.tsx'
import { type WebhookDraft, WebhookFields } from './webhook_fields.tsx'

export function CreateWebhook({ onClose }: { onClose(): void }) {
  const [, navigate] = useLocation()
  const [draft, setDraft] = useState<WebhookDraft>({ url: '', description: '', events: ['*'] })
  const create_webhook = useOperationMutation('create_webhook')
  const submit = (form: FormEvent) => {
    form.preventDefault()
    const { url, description, events } = draft
    const words = description.trim() === '' ? {} : { description: description.trim() }
    create_webhook.mutate({ url, events: [...events], ...words })
  }
  if (create_webhook.data !== undefined) {
    const { id, secret } = create_webhook.data
    return <SigningSecret secret={secret} onClose={() => navigate(`/developers/webhooks/${id}`)} />
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Add endpoint"
      description="We send each event as a signed POST request and retry up to 10 times over 3 days."
    >
      <form onSubmit={submit} className="space-y-4">
        <WebhookFields draft={draft} onChange={setDraft} problem={create_webhook.error} />
        <ProblemNote problem={create_webhook.error} fields={['url']} />
        <FormActions
          label="Add endpoint"
          busy={create_webhook.isPending}
          disabled={draft.events.length === 0}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}
