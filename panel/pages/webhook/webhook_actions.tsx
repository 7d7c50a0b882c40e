import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Webhook } from '#contract/webhooks.ts'
import { SigningSecret } from '#panel/pages/developers/signing_secret.tsx'
import { useOperationMutation } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { Ellipsis, KeyRound, Pause, Pencil, Play, Trash } from '#panel/ui/icons.ts'
import { Menu } from '#panel/ui/menu.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { EditWebhook } from './edit_webhook.tsx'

type OpenDialog = 'edit' | 'rotate' | 'delete' | null

export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const [open_dialog, setOpenDialog] = useState<OpenDialog>(null)
  const close = () => setOpenDialog(null)
  const is_on = webhook.status === 'enabled'
  const update_webhook = useOperationMutation('update_webhook', {
    onSuccess: ({ status }) => toast(`Endpoint ${status}.`),
  })
  const toggleStatus = () =>
    update_webhook.mutate(
      { id: webhook.id, status: is_on ? 'disabled' : 'enabled' },
      { onError: ({ message }) => toast(message, 'bad') },
    )
  const trigger = (
    <Button size="icon" aria-label="More actions">
      <Ellipsis />
    </Button>
  )
  return (
    <>
      <Button onClick={() => setOpenDialog('edit')}>
        <Pencil /> Edit
      </Button>
      <Button busy={update_webhook.isPending} onClick={toggleStatus}>
        {is_on ? <Pause /> : <Play />} {is_on ? 'Disable' : 'Enable'}
      </Button>
      <Menu
        trigger={trigger}
        items={[
          { text: 'Roll secret', icon: <KeyRound />, onSelect: () => setOpenDialog('rotate') },
          'line',
          {
            text: 'Delete',
            icon: <Trash />,
            danger: true,
            onSelect: () => setOpenDialog('delete'),
          },
        ]}
      />
      {open_dialog === 'edit' && <EditWebhook webhook={webhook} onClose={close} />}
      {open_dialog === 'rotate' && <RollSecret webhook={webhook} onClose={close} />}
      {open_dialog === 'delete' && <DeleteWebhook webhook={webhook} onClose={close} />}
    </>
  )
}

type Props = { webhook: Webhook; onClose(): void }

function RollSecret({ webhook, onClose }: Props) {
  const update_webhook = useOperationMutation('update_webhook')
  if (update_webhook.data !== undefined) {
    return <SigningSecret secret={update_webhook.data.secret ?? null} onClose={onClose} />
  }
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title="Roll signing secret?"
      confirm_label="Roll secret"
      busy={update_webhook.isPending}
      problem={update_webhook.error}
      onConfirm={() => update_webhook.mutate({ id: webhook.id, rotate_secret: true })}
    >
      <p>
        You’ll get a new secret, shown only once. For 24 hours we sign deliveries with both secrets,
        so you can switch over.
      </p>
    </ConfirmDialog>
  )
}

function DeleteWebhook({ webhook, onClose }: Props) {
  const [, navigate] = useLocation()
  const delete_webhook = useOperationMutation('delete_webhook', {
    onSuccess: () => {
      toast('Endpoint deleted.')
      navigate('/developers/webhooks')
    },
  })
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title="Delete this endpoint?"
      confirm_label="Delete endpoint"
      danger
      busy={delete_webhook.isPending}
      problem={delete_webhook.error}
      onConfirm={() => delete_webhook.mutate({ id: webhook.id })}
    >
      <p>
        Pending deliveries are dropped. To stop deliveries temporarily and keep the signing secret,
        disable the endpoint instead.
      </p>
    </ConfirmDialog>
  )
}
