import { type FormEvent, useState } from 'react'
import type { Webhook } from '#contract/webhooks.ts'
import { type WebhookDraft, WebhookFields } from '#panel/pages/developers/webhook_fields.tsx'
import { useOperationMutation } from '#panel/queries.ts'
import { Dialog, FormActions } from '#panel/ui/dialog.tsx'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { toast } from '#panel/ui/toast.tsx'

export function EditWebhook({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const { id, url, events, description } = webhook
  const [draft, setDraft] = useState<WebhookDraft>({ url, events, description: description ?? '' })
  const update_webhook = useOperationMutation('update_webhook', {
    onSuccess: () => {
      toast('Endpoint saved.')
      onClose()
    },
  })
  const submit = (form: FormEvent) => {
    form.preventDefault()
    const new_description = draft.description.trim()
    update_webhook.mutate({
      id,
      url: draft.url,
      events: [...draft.events],
      description: new_description === '' ? null : new_description,
    })
  }
  return (
    <Dialog open onOpenChange={onClose} title="Edit endpoint">
      <form onSubmit={submit} className="space-y-4">
        <WebhookFields draft={draft} onChange={setDraft} problem={update_webhook.error} />
        <ProblemNote problem={update_webhook.error} fields={['url']} />
        <FormActions
          label="Save"
          busy={update_webhook.isPending}
          disabled={draft.events.length === 0}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}
