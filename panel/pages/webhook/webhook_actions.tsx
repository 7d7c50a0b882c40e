import { Ellipsis, KeyRound, Pause, Pencil, Play, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Webhook } from '#contract/webhooks.ts'
import { SigningSecret } from '#panel/pages/developers/signing_secret.tsx'
import { useOperationMutation } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { Menu } from '#panel/ui/menu.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { EditWebhook } from './edit_webhook.tsx'

type OpenDialog = 'edit' | 'rotate' | 'delete' | null

export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const [open_dialog, setOpenDialog] = useState<OpenDialog>(null)
  const close = () => setOpenDialog(null)
  const is_on = webhook.status === 'enabled'
  const turn = useOperationMutation('update_webhook', {
    onSuccess: ({ status }) => toast(`Endpoint ${status}.`),
  })
  const flip = () =>
    turn.mutate(
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
      <Button busy={turn.isPending} onClick={flip}>
        {is_on ? <Pause /> : <Play />} {is_on ? 'Disable' : 'Enable'}
      </Button>
      <Menu
        trigger={trigger}
        items={[
          { text: 'Roll secret', icon: <KeyRound />, onSelect: () => setOpenDialog('rotate') },
          'line',
          {
            text: 'Delete',
            icon: <Trash2 />,
            danger: true,
            onSelect: () => setOpenDialog('delete'),
          },
        ]}
      />
      {open_dialog === 'edit' && <EditWebhook webhook={webhook} onClose={close} />}
      {open_dialog === 'rotate' && <Rotate webhook={webhook} onClose={close} />}
      {open_dialog === 'delete' && <Delete webhook={webhook} onClose={close} />}
    </>
  )
}

type Props = { webhook: Webhook; onClose(): void }

function Rotate({ webhook, onClose }: Props) {
  const rotate = useOperationMutation('update_webhook')
  if (rotate.data !== undefined) {
    return <SigningSecret secret={rotate.data.secret ?? null} onClose={onClose} />
  }
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title="Roll signing secret?"
      confirm_label="Roll secret"
      busy={rotate.isPending}
      problem={rotate.error}
      onConfirm={() => rotate.mutate({ id: webhook.id, rotate_secret: true })}
    >
      <p>
        You’ll get a new secret, shown only once. For 24 hours we sign deliveries with both secrets,
        so you can switch over.
      </p>
    </ConfirmDialog>
  )
}

function Delete({ webhook, onClose }: Props) {
  const [, navigate] = useLocation()
  const remove = useOperationMutation('delete_webhook', {
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
      busy={remove.isPending}
      problem={remove.error}
      onConfirm={() => remove.mutate({ id: webhook.id })}
    >
      <p>
        Pending deliveries are dropped. To stop deliveries temporarily and keep the signing secret,
        disable the endpoint instead.
      </p>
    </ConfirmDialog>
  )
}
