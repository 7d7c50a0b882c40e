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
    done: ({ status }) => toast(`The endpoint is ${status}.`),
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
        {is_on ? <Pause /> : <Play />} {is_on ? 'Pause' : 'Enable'}
      </Button>
      <Menu
        trigger={trigger}
        items={[
          { text: 'Rotate secret', icon: <KeyRound />, onSelect: () => setAsked('rotate') },
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
      title="Rotate the signing secret?"
      verb="Rotate secret"
      busy={rotate.isPending}
      problem={rotate.error}
      onConfirm={() => rotate.mutate({ id: webhook.id, rotate_secret: true })}
    >
      <p>
        A new secret is made and shown once. For 24 hours deliveries are signed with both, so that
        you can change over without losing one.
      </p>
    </Confirm>
  )
}

function Delete({ webhook, onClose }: Props) {
  const [, navigate] = useLocation()
  const remove = useAct('delete_webhook', {
    done: () => {
      toast('The endpoint was deleted.')
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
        Deliveries that are still due are dropped. To stop them for a while, pause it instead: a new
        endpoint has another secret.
      </p>
    </Confirm>
  )
}
