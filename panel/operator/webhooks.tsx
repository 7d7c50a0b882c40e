import type { Webhook } from '#contract/webhooks.ts'
import { Badge, humanize, Status } from '#panel/ui/badge.tsx'
import { Webhook as WebhookIcon } from '#panel/ui/icons.ts'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { AccountLink } from './account_link.tsx'
import { useOperatorList } from './operator_list.ts'
import type { WithAccountId } from './shapes.ts'

type Row = WithAccountId<Webhook>

const columns: readonly Column<Row>[] = [
  {
    title: 'Endpoint',
    cell: ({ url, account_id, disabled_reason }) => (
      <>
        <span className="block font-medium break-all">{url}</span>
        {disabled_reason !== null && (
          <span className="block text-sm text-soft">{humanize(disabled_reason)}</span>
        )}
        <span className="block text-sm">
          <AccountLink account_id={account_id} />
        </span>
      </>
    ),
  },
  {
    title: 'Status',
    cell: ({ status }) =>
      status === 'enabled' ? <Badge tone="bad">Failing</Badge> : <Status of={status} />,
  },
  {
    title: 'Last success',
    wide_only: true,
    right: true,
    cell: ({ last_delivery_at }) => <OptionalTime at={last_delivery_at} fallback="Never" />,
  },
  {
    title: 'Failing since',
    right: true,
    cell: ({ failing_since }) => <OptionalTime at={failing_since} fallback="Not failing" />,
  },
]

const OptionalTime = ({ at, fallback }: { at: string | null; fallback: string }) =>
  at === null ? <span className="text-soft">{fallback}</span> : <Time at={at} />

export function Webhooks() {
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Failing and disabled endpoints. Endpoints are disabled after 5 days of failures."
      />
      <Section flush>
        <Table
          label="Failing webhooks"
          list={useOperatorList<Row>('/webhooks')}
          columns={columns}
          empty={
            <EmptyState icon={WebhookIcon} title="All endpoints healthy">
              Endpoints that fail to accept deliveries show up here.
            </EmptyState>
          }
        />
      </Section>
    </>
  )
}
