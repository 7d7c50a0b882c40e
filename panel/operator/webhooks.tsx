import type { Webhook } from '#contract/webhooks.ts'
import { Badge, Status } from '#panel/ui/badge.tsx'
import { Webhook as WebhookIcon } from '#panel/ui/icons.ts'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import { disabledReason } from '#panel/words/disabled_reason.ts'
import { AccountLink } from './account_link.tsx'
import { useOperatorList } from './operator_list.ts'
import type { WithAccount } from './shapes.ts'

type Row = WithAccount<Webhook>

const columns: readonly Column<Row>[] = [
  {
    title: 'Endpoint',
    cell: (row) => (
      <>
        <span className="block font-medium wrap-anywhere">{row.url}</span>
        {row.disabled_reason !== null && (
          <span className="block text-sm text-soft">{disabledReason(row.disabled_reason)}</span>
        )}
        <span className="block text-sm">
          <AccountLink of={row} />
        </span>
        {row.failing_since !== null && (
          <span className="num block text-sm text-soft md:hidden">
            Failing since <Time at={row.failing_since} />
          </span>
        )}
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
    wide_only: true,
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
