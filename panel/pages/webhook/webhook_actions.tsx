import { Ellipsis, KeyRound, Pause, Pencil, Play, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Webhook } from '#contract/webhooks.ts'
import { SigningSecret } from '#panel/pages/developers/signing_secret.tsx'
import { useAct } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { Confirm } from '#panel/ui/confirm.tsx'
import { Menu } from '#panel/ui/menu.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { EditWebhook } from './edit_webhook.tsx'

type Asked = 'edit' | 'rotate' | 'delete' | null

export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const [asked, setAsked] = useState<Asked>(null)
  const close = () => setAsked(null)
  const is_on = webhook.status === 'enabled'
  const turn = useAct('update_webhook', {
    done: ({ status }) => toast(`Endpoint ${status}.`),
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
      <Button onClick={() => setAsked('edit')}>
        <Pencil /> Edit
      </Button>
      <Button busy={turn.isPending} onClick={flip}>
        {is_on ? <Pause /> : <Play />} {is_on ? 'Disable' : 'Enable'}
      </Button>
      <Menu
        trigger={trigger}
        items={[
          { text: 'Roll secret', icon: <KeyRound />, onSelect: () => setAsked('rotate') },
          'line',
          { text: 'Delete', icon: <Trash2 />, danger: true, onSelect: () => setAsked('delete') },
        ]}
      />
      {asked === 'edit' && <EditWebhook webhook={webhook} onClose={close} />}
      {asked === 'rotate' && <Rotate webhook={webhook} onClose={close} />}
      {asked === 'delete' && <Delete webhook={webhook} onClose={close} />}
    </>
  )
}

type Props = { webhook: Webhook; onClose(): void }

function Rotate({ webhook, onClose }: Props) {
  const rotate = useAct('update_webhook')
  if (rotate.data !== undefined) {
    return <SigningSecret secret={rotate.data.secret ?? null} onClose={onClose} />
  }
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title="Roll signing secret?"
      verb="Roll secret"
      busy={rotate.isPending}
      problem={rotate.error}
      onConfirm={() => rotate.mutate({ id: webhook.id, rotate_secret: true })}
    >
      <p>
        You’ll get a new secret, shown only once. For 24 hours we sign deliveries with both secrets,
        so you can switch over.
      </p>
    </Confirm>
  )
}

function Delete({ webhook, onClose }: Props) {
  const [, navigate] = useLocation()
  const remove = useAct('delete_webhook', {
    done: () => {
      toast('Endpoint deleted.')
      navigate('/developers/webhooks')
    },
  })
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title="Delete this endpoint?"
      verb="Delete endpoint"
      danger
      busy={remove.isPending}
      problem={remove.error}
      onConfirm={() => remove.mutate({ id: webhook.id })}
    >
      <p>
        Pending deliveries are dropped. To stop deliveries temporarily and keep the signing secret,
        disable the endpoint instead.
      </p>
    </Confirm>
  )
}
