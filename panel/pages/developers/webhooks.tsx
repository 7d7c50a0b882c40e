import { useState } from 'react'
import type { Webhook } from '#contract/webhooks.ts'
import { WebhookStatus } from '#panel/pages/webhook/webhook_status.tsx'
import { useOperationList } from '#panel/queries.ts'
import { Button } from '#panel/ui/button.tsx'
import { Plus, Webhook as WebhookIcon } from '#panel/ui/icons.ts'
import { Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { CreateWebhook } from './create_webhook.tsx'
import { describeEvents } from './event_picker.tsx'

const columns: readonly Column<Webhook>[] = [
  { title: 'Endpoint', cell: (webhook) => <Address webhook={webhook} /> },
  { title: 'Events', wide_only: true, cell: ({ events }) => describeEvents(events) },
  {
    title: 'Status',
    cell: (webhook) => <WebhookStatus webhook={webhook} />,
  },
  {
    title: 'Last success',
    wide_only: true,
    right: true,
    cell: ({ last_delivery_at }) =>
      last_delivery_at === null ? (
        <span className="text-soft">None yet</span>
      ) : (
        <Time at={last_delivery_at} />
      ),
  },
]

function Address({ webhook: { url, description } }: { webhook: Webhook }) {
  return (
    <>
      <span className="block break-all">{url}</span>
      {description !== null && (
        <span className="block text-sm font-normal wrap-anywhere text-soft">{description}</span>
      )}
    </>
  )
}

export function Webhooks() {
  const list = useOperationList('list_webhooks', {})
  const [is_creating, setCreating] = useState(false)
  const create = (
    <Button size="small" kind="main" onClick={() => setCreating(true)}>
      <Plus /> Add endpoint
    </Button>
  )
  return (
    <Section title="Webhooks" action={create} flush>
      <Table
        label="Webhooks"
        list={list}
        columns={columns}
        empty={
          <EmptyState icon={WebhookIcon} title="No endpoints">
            Add an endpoint to get notified when something happens in your account.
          </EmptyState>
        }
        href={({ id }) => `/developers/webhooks/${id}`}
      />
      {is_creating && <CreateWebhook onClose={() => setCreating(false)} />}
    </Section>
  )
}
